import { setTimeout as delay } from 'node:timers/promises'

const everyMilliseconds = 20
const atMostMilliseconds = 60_000

/** Polls until the condition is true; throws on a timeout. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > atMostMilliseconds) throw new Error('the condition was not met in time')
    await delay(everyMilliseconds)
  }
}
