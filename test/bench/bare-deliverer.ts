import { request } from 'undici'
import type { Deliverer } from './deliverer.ts'
import { startProcess } from './start-process.ts'

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
