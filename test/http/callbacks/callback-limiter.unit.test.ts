import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type CallbackLimiter, createCallbackLimiter } from '../../../src/http/callbacks/callback-limiter.ts'

const limits = { smallBytes: 10, maxConcurrent: 2, maxConcurrentOfAccount: 2, maxBytes: 1_000, maxBytesOfAccount: 600 }

/** Queues work that the test ends. */
function open(limiter: CallbackLimiter) {
  const started: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const run = (name: string, app: string, bytes: number) =>
    limiter.run(app, bytes, () => {
      started.push(name)
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)))
      })
    })
  return { started, run, end: (name: string, error?: Error) => ends.get(name)?.(error) }
}

test('processes few large callbacks concurrently and alternates between apps', async () => {
  const { started, run, end } = open(createCallbackLimiter(limits))
  const first = run('a1', 'a', 100)
  for (const name of ['a2', 'a3', 'a4']) void run(name, 'a', 100)
  void run('b1', 'b', 100)
  await turn()
  expect(started).toEqual(['a1', 'a2'])

  end('a1')
  expect(await first).toBe('a1')
  end('a2')
  await turn()
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1'])
})

test('reserves a turn for other apps when one app sends many callbacks', async () => {
  const { started, run, end } = open(createCallbackLimiter({ ...limits, maxConcurrent: 3 }))
  for (const name of ['a1', 'a2', 'a3']) void run(name, 'a', 100)
  await turn()
  expect(started).toEqual(['a1', 'a2'])

  void run('b1', 'b', 100)
  await turn()
  expect(started).toEqual(['a1', 'a2', 'b1'])

  end('b1')
  await turn()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  end('a1')
  await turn()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('rejects small callbacks, too, once an app or all of them hold too many bytes', async () => {
  const { run, end } = open(createCallbackLimiter(limits))
  const held = Array.from({ length: 15 }, (_, index) => run(`a${index}`, 'a', 10))
  expect(run('one more', 'a', 10)).toBeUndefined()
  const others = Array.from({ length: 10 }, (_, index) => run(`b${index}`, 'b', 10))
  expect(run('one of another', 'c', 10)).toBeUndefined()

  for (const index of held.keys()) end(`a${index}`)
  for (const callback of held) await callback
  expect(run('later', 'a', 10)).toBeDefined()
  expect(others).not.toContain(undefined)
})

test('does not delay a small callback', () => {
  const { started, run } = open(createCallbackLimiter(limits))
  for (const name of ['a1', 'a2', 'a3']) void run(name, 'a', 100)
  void run('small', 'a', 10)
  expect(started).toContain('small')
})

test('rejects callbacks that exceed the queue limits and frees them afterwards', async () => {
  const { run, end } = open(createCallbackLimiter(limits))
  const first = run('a1', 'a', 500)
  expect(run('a2', 'a', 200)).toBeUndefined()
  const second = run('b1', 'b', 500)
  expect(run('c1', 'c', 11)).toBeUndefined()
  await turn()
  end('a1', new Error('the database is unavailable'))
  await expect(first).rejects.toThrow('unavailable')
  end('b1')
  await second

  const third = run('a3', 'a', 600)
  await turn()
  end('a3')
  expect(await third).toBe('a3')
})
