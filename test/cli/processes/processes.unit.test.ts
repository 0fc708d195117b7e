import { execFile } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { exposeCollection, type IdleCollection, idleIntervals, observe } from '../../../src/cli/processes/memory.ts'
import { readProcesses } from '../../../src/cli/commands/serve.ts'

/** Returns the seconds at which garbage is collected. */
function listCollections(utilizations: readonly number[], collectAfter = Infinity): number[] {
  const collected: number[] = []
  let state: IdleCollection = { idleFor: 0, collectAfter }
  for (const [second, utilization] of utilizations.entries()) {
    state = observe(state, utilization)
    if (state.idleFor === state.collectAfter) collected.push(second)
  }
  return collected
}

const { afterStart, afterBurst } = idleIntervals
const quiet = Array<number>(afterBurst).fill(0.01)

test.each([
  { when: 'once after a burst', utilizations: [0.01, 0.9, 0.8, 0.3, ...quiet, ...quiet], seconds: [3 + afterBurst] },
  { when: 'after each burst', utilizations: [0.9, ...quiet, 0.9, ...quiet], seconds: [afterBurst, 1 + 2 * afterBurst] },
  { when: 'not while requests are served', utilizations: [0.9, ...quiet.map(() => 0.3)], seconds: [] },
  { when: 'not between two bursts', utilizations: [0.9, ...quiet.slice(1), 0.9, ...quiet.slice(1)], seconds: [] },
  { when: 'not without a burst', utilizations: [...quiet, ...quiet], seconds: [] },
])('collects garbage $when', ({ utilizations, seconds }) => {
  expect(listCollections(utilizations)).toEqual(seconds)
})

test('collects garbage sooner after the start', () => {
  expect(listCollections([0.9, 0.9, ...quiet], afterStart)).toEqual([1 + afterBurst])
  expect(listCollections([0.3, ...quiet], afterStart)).toEqual([afterStart])
})

test('frees unused memory', async () => {
  const collect = exposeCollection()
  await collect()
  const before = process.memoryUsage().heapUsed
  let garbage: number[][] | undefined = Array.from({ length: 64 }, () =>
    Array.from({ length: 65_536 }, (_, n) => n + 0.5),
  )
  const full = process.memoryUsage().heapUsed
  expect(garbage).toHaveLength(64)
  garbage = undefined
  await collect()

  expect(process.memoryUsage().heapUsed - before).toBeLessThan((full - before) / 2)
})

const script = `
  const { limitStartMemory, liftStartLimits } = await import(process.argv[1])
  limitStartMemory(['serve'], { DATABASE_URL: 'postgres://localhost' })
  liftStartLimits({ isEmbedded: false })`

test('sets only flags that V8 knows', async () => {
  const limits = new URL('../../../src/cli/processes/start-limits.ts', import.meta.url).href
  const run = (code: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code, '--', limits])

  const { stderr: unknown } = await run(`import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--no-such')`)
  expect(unknown).not.toBe('')
  expect(await run(script)).toEqual({ stdout: '', stderr: '' })
})

test('starts as many processes as it may on a machine with more cores, and rejects several on the embedded database', () => {
  const cores = vi.spyOn(os, 'availableParallelism').mockReturnValue(96)
  syncBuiltinESMExports()
  onTestFinished(() => {
    cores.mockRestore()
    syncBuiltinESMExports()
  })

  expect(readProcesses('auto', { kind: 'postgres', url: 'postgres://h/d' })).toBe(64)
  expect(() => readProcesses('auto', { kind: 'pglite', dataDir: '/data' })).toThrow('embedded database')
})
