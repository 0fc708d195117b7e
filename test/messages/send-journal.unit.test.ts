import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSendJournal, readSendJournal } from '../../src/messages/send-journal-file.ts'
import type { JournalLocation } from '../../src/platform/journal.ts'

const log = pino({ level: 'silent' })

let location: JournalLocation
beforeEach(() => {
  location = { folder: mkdtempSync(path.join(tmpdir(), 'waybill-journal-')), database: 'db-1', bootId: 'boot-1' }
})
afterEach(() => rmSync(location.folder, { recursive: true }))

const header = `${JSON.stringify({ version: 1, database: 'db-1', bootId: 'boot-1', host: 'h', pid: 1 })}\n`
const recordedBoth = `${header}R acc_1 msg_1\nR acc_1 msg_2\n`

test.each([
  { what: 'a recorded message', text: recordedBoth, unwritten: ['msg_1', 'msg_2'] },
  { what: 'a written message', text: `${recordedBoth}W msg_1\n`, unwritten: ['msg_2'] },
  {
    what: 'a truncated entry of a message that shares a prefix with another',
    text: `${recordedBoth}W msg_`,
    unwritten: [],
  },
  { what: 'a truncated entry without a message ID', text: `${recordedBoth}W`, unwritten: [] },
  { what: 'a truncated entry of one message', text: `${recordedBoth}W msg_1`, unwritten: ['msg_2'] },
  { what: 'a truncated recording', text: `${recordedBoth}R acc_1 msg_3`, unwritten: ['msg_1', 'msg_2'] },
  { what: 'only a header', text: header, unwritten: [] },
])('finds $unwritten unwritten in a journal with $what', ({ text, unwritten }) => {
  expect(readSendJournal(text)?.map(({ id }) => id)).toEqual(unwritten)
})

test.each([
  { what: 'is empty', text: '' },
  { what: 'has a truncated header', text: header.slice(0, 20) },
  { what: 'has an invalid line', text: `${header}R acc_1 msg_1\nX\nR acc_1 msg_2\n` },
  { what: 'has a later version', text: recordedBoth.replace('"version":1', '"version":2') },
])('ignores a journal that $what', ({ text }) => {
  expect(readSendJournal(text)).toBeUndefined()
})

function readOnly(): ReturnType<typeof readSendJournal> {
  const file = readdirSync(location.folder).find((name) => name.endsWith('.journal')) ?? ''
  return readSendJournal(readFileSync(path.join(location.folder, file), 'latin1'))
}

test('limits the size of a journal and keeps unwritten messages', () => {
  const journal = openSendJournal(location, log, 2_000)
  journal.recording([{ accountId: 'acc_1', id: 'msg_waiting' }])
  for (let n = 0; n < 1_000; n++) {
    journal.recording([{ accountId: 'acc_1', id: `msg_${n}` }])
    if (n % 2 === 0) journal.writing(`msg_${n}`)
    else journal.settled(`msg_${n}`)
  }

  expect(readOnly()?.map(({ id }) => id)).toContain('msg_waiting')
  const sizes = readdirSync(location.folder).map((name) => statSync(path.join(location.folder, name)).size)
  expect(Math.max(...sizes)).toBeLessThan(2_500)
  journal.close()
  expect(readdirSync(location.folder)).toHaveLength(2)
})

test('deletes a journal without unwritten messages when its process exits', () => {
  const journal = openSendJournal(location, log)
  journal.recording([
    { accountId: 'acc_1', id: 'msg_1' },
    { accountId: 'acc_1', id: 'msg_2' },
  ])
  journal.writing('msg_1')
  journal.settled('msg_2')
  journal.close()
  expect(readdirSync(location.folder)).toEqual([])
})
