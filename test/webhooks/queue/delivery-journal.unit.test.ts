import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JournalLocation } from '../../../src/platform/journal.ts'
import { openDeliveryJournal, readDeliveryJournal } from '../../../src/webhooks/queue/delivery-journal.ts'
import type { EndedAttempt } from '../../../src/webhooks/queue/store.ts'

const log = pino({ level: 'silent' })
const startedAt = new Date('2026-11-20T10:00:00Z')

let location: JournalLocation
beforeEach(() => {
  location = { folder: mkdtempSync(path.join(tmpdir(), 'waybill-journal-')), database: 'db-1', bootId: 'boot-1' }
})
afterEach(() => rmSync(location.folder, { recursive: true }))

function someAttempt(id: string): EndedAttempt {
  const result = { outcome: 'delivered', statusCode: 204, durationMilliseconds: 12.4 } as const
  return { delivery: { accountId: 'acc_1', id, generation: 1 }, result, startedAt, waitSeconds: undefined }
}

test('rewrites a long file with the attempts that are not recorded yet', () => {
  const journal = openDeliveryJournal(location, log, 2_000)
  journal.acknowledged(someAttempt('whd_waiting'))
  for (let n = 0; n < 200; n++) {
    journal.acknowledged(someAttempt(`whd_${n}`))
    journal.recorded(`whd_${n}`)
  }
  const name = readdirSync(location.folder).find((file) => file.endsWith('.deliveries')) ?? ''
  const file = path.join(location.folder, name)
  expect(statSync(file).size).toBeLessThan(2_500)
  expect(readDeliveryJournal(readFileSync(file, 'latin1'))).toContainEqual(someAttemptAsRead('whd_waiting'))

  journal.recorded('whd_waiting')
  journal.close()
  expect(readdirSync(location.folder)).toEqual([])
})

function someAttemptAsRead(id: string): EndedAttempt {
  const attempt = someAttempt(id)
  return { ...attempt, result: { ...attempt.result, durationMilliseconds: 12 } }
}

const header = `${JSON.stringify({ version: 1, database: 'db-1', bootId: 'boot-1', host: 'h', pid: 1 })}\n`
const line = 'A acc_1 whd_1 1 1700000000000 12 200\n'

test.each([
  { what: 'an acknowledged attempt', text: header + line, ids: ['whd_1'] },
  { what: 'a truncated line', text: header + line + line.slice(0, 12), ids: ['whd_1'] },
  { what: 'only a header', text: header, ids: [] },
  { what: 'an invalid line', text: `${header}X\n${line}`, ids: undefined },
  { what: 'a truncated header', text: header.slice(0, 20), ids: undefined },
])('finds $ids in a journal with $what', ({ text, ids }) => {
  expect(readDeliveryJournal(text)?.map(({ delivery }) => delivery.id)).toEqual(ids)
})

test('goes on without a journal that can be neither written nor removed', () => {
  const warnings: string[] = []
  const noisy = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  const journal = openDeliveryJournal(location, noisy, 0)
  // A long file is rewritten under this name.
  mkdirSync(path.join(location.folder, `${journal.name}.deliveries.new`))

  for (let count = 0; count < 20; count++) journal.acknowledged(someAttempt(`dlv_${count}`))

  expect(warnings).toEqual([expect.stringContaining('could not write the delivery journal')])
  journal.close()
})
