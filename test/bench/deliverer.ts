/** A process that delivers queued webhooks. */
export interface Deliverer extends AsyncDisposable {
  /** Queues this many in one transaction and may resolve before they are delivered. */
  deliver(count: number): Promise<void>
  /** Resolves when all are recorded as delivered; throws otherwise. */
  settled(): Promise<void>
}

/** Returns several URLs, since a service has several customers. */
export function endpointUrls(receiverUrl: string, part: string): string[] {
  return Array.from({ length: 8 }, (_, index) => `${receiverUrl}/${part}/${index}`)
}
