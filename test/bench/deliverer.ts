import { request } from 'undici'
import { startProcess } from './start-process.ts'

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

/** A loop of signed POSTs without a queue or records. */
export async function startBareDeliverer(urls: string[]): Promise<Deliverer> {
  const running = await startProcess('test/bench/bare-sender.ts', { args: urls })
  return {
    deliver: async (count) => {
      const { body } = await request(`${running.url}/${count}`, { method: 'POST' })
      await body.dump()
    },
    settled: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}
