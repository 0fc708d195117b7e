import { request } from 'undici'
import { startProcess, type RunningProcess } from './start-process.ts'

/** A separate process that receives webhooks. */
export interface Receiver extends RunningProcess {
  /**
   * Runs `deliver` and resolves when `count` webhooks have arrived at paths that begin with `/<part>`, to the number
   * per second between the first and the last.
   */
  receive(part: string, count: number, deliver: () => Promise<void>): Promise<number>
}

export async function startReceiver({ milliseconds = 0 }: { milliseconds?: number } = {}): Promise<Receiver> {
  const running = await startProcess('test/bench/receiver.ts', { args: [String(milliseconds)] })
  const ask = async (path: string) => {
    const { body } = await request(`${running.url}/${path}`, { headersTimeout: 120_000 })
    return body.text()
  }
  return {
    ...running,
    receive: async (part, count, deliver) => {
      await ask(`expect/${part}/${count}`)
      await deliver()
      return Number(await ask(`arrivals/${part}`))
    },
  }
}
