/** Has webhooks to deliver, and delivers them. */
export interface Deliverer extends AsyncDisposable {
  /** Queues so many in one transaction; resolves at any time after that. */
  deliver(count: number): Promise<void>
  /** Resolves when it is recorded of all that they were delivered; throws if it is not. */
  settled(): Promise<void>
}

/** Several, as the customers of a service have them. */
export function endpointUrls(receiverUrl: string, part: string): string[] {
  return Array.from({ length: 8 }, (_, index) => `${receiverUrl}/${part}/${index}`)
}
