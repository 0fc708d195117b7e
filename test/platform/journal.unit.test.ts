import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startReplay } from '../../src/platform/journal.ts'
import { folderForTest } from '../support/lifetime.ts'

const location = { database: 'db-1', bootId: 'boot-1' }

function journalOf(origin: { database: string; bootId: string }, line: string): string {
  return `${JSON.stringify({ version: 1, ...origin, host: 'h', pid: 1 })}\n${line}\n`
}

test('reads the journals of its database only, however often it looks for new ones', async () => {
  const folder = await folderForTest()
  const leave = (name: string, text: string) => writeFileSync(path.join(folder, `${name}.journal`), text)
  leave('other-database', journalOf({ ...location, database: 'db-2' }, 'a'))
  leave('before-reboot', journalOf({ ...location, bootId: 'boot-0' }, 'b'))
  leave('no-header', 'c')
  leave('first', journalOf(location, 'd'))
  const read = vi.fn<(text: string) => string>((text) => text)
  const apply = vi.fn<(contents: string) => Promise<boolean>>(() => Promise.resolve(true))
  const times = { scanEveryMs: 1, retryEveryMs: 1 }
  const replay = startReplay(
    pino({ level: 'silent' }),
    { ...location, folder },
    { kind: 'journal', read, apply },
    times,
  )
  onTestFinished(() => replay.stop())

  await replay.first
  leave('second', journalOf(location, 'e'))
  await expect.poll(() => apply.mock.calls.length).toBe(2)

  const expected = ['d', 'e'].map((line) => [journalOf(location, line)])
  expect(read.mock.calls).toEqual(expected)
})

test('reads a journal that could not be read at first', async () => {
  const folder = await folderForTest()
  const file = path.join(folder, 'first.journal')
  // A folder can be listed and opened, but not read.
  mkdirSync(file)
  const apply = vi.fn<(contents: string) => Promise<boolean>>(() => Promise.resolve(true))
  const steps = { kind: 'journal', read: (text: string) => text, apply } as const
  const times = { scanEveryMs: 1, retryEveryMs: 1 }
  const replay = startReplay(pino({ level: 'silent' }), { ...location, folder }, steps, times)
  onTestFinished(() => replay.stop())

  await replay.first
  rmdirSync(file)
  writeFileSync(file, journalOf(location, 'a'))

  await expect.poll(() => apply.mock.calls).toEqual([[journalOf(location, 'a'), expect.any(Number)]])
})
