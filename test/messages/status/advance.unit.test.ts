import fc from 'fast-check'
import { expect, test } from 'vitest'
import { messageStatuses } from '../../../contracts/api/message.ts'
import type { MessageState } from '../../../src/messages/message.ts'
import { advance, applyReport, type StatusReport, withoutRecipient } from '../../../src/messages/status/advance.ts'
import { pendingState } from '../../support/stored-messages.ts'

/** One row for each pair of current and reported status. */
const pairs = {
  pending: { pending: 'pending', sent: 'sent', delivered: 'delivered', read: 'read', failed: 'failed' },
  sent: { pending: 'sent', sent: 'sent', delivered: 'delivered', read: 'read', failed: 'failed' },
  delivered: { pending: 'delivered', sent: 'delivered', delivered: 'delivered', read: 'read', failed: 'delivered' },
  read: { pending: 'read', sent: 'read', delivered: 'read', read: 'read', failed: 'read' },
  failed: { pending: 'failed', sent: 'failed', delivered: 'delivered', read: 'read', failed: 'failed' },
} as const

test.each(
  messageStatuses.flatMap((current) =>
    messageStatuses.map((reported) => ({ current, reported, becomes: pairs[current][reported] })),
  ),
)('changes $current to $becomes when WhatsApp reports $reported', ({ current, reported, becomes }) => {
  expect(advance(current, reported)).toBe(becomes)
})

const at = (second: number) => new Date(second * 1000)

function reported(status: StatusReport['status'], second: number, code?: string): StatusReport {
  const error = code === undefined ? undefined : { code, message: `reason of ${code}` }
  return { waMessageId: 'wamid.1', status, at: at(second), error }
}

const failed = (second: number, code?: string) => reported('failed', second, code)

const report: fc.Arbitrary<StatusReport> = fc
  .record({
    status: fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    second: fc.integer({ min: 0, max: 5 }),
    code: fc.constantFrom('131026', '131049'),
  })
  .map(({ status, second, code }) => reported(status, second, status === 'failed' ? code : undefined))

function applyAll(reports: StatusReport[]): { state: MessageState; emitted: string[] } {
  const emitted: string[] = []
  let state = pendingState
  for (const next of reports) {
    const applied = applyReport(state, next)
    if (applied.changed) emitted.push(applied.state.status)
    state = applied.state
  }
  return { state, emitted }
}

test('reaches the same final state for any order and repetition of the same reports', () => {
  fc.assert(
    fc.property(
      fc.array(report, { minLength: 1, maxLength: 8 }).chain((reports) =>
        fc.tuple(
          fc.constant(reports),
          fc.shuffledSubarray(reports, { minLength: reports.length }),
          fc
            .array(fc.nat(reports.length - 1), { maxLength: 8 })
            .map((indexes) => indexes.flatMap((index) => reports[index] ?? [])),
        ),
      ),
      ([reports, shuffled, repeats]) => {
        expect(applyAll([...shuffled, ...repeats]).state).toEqual(applyAll(reports).state)
      },
    ),
    { numRuns: 2000 },
  )
})

test('emits each event once for repeated reports', () => {
  fc.assert(
    fc.property(fc.array(report, { maxLength: 12 }), (reports) => {
      const { emitted } = applyAll([...reports, ...reports])
      expect(new Set(emitted).size).toBe(emitted.length)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  { status: 'sent', field: 'sentAt' },
  { status: 'delivered', field: 'deliveredAt' },
  { status: 'read', field: 'readAt' },
] as const)('keeps the earliest time of a repeated $status and changes only $field', ({ status, field }) => {
  // A message that was read was delivered.
  const implied = status === 'read' && { deliveredAt: at(2) }
  for (const seconds of [[2], [2, 5], [5, 2], [5, 2, 3]]) {
    const { state } = applyAll(seconds.map((second) => reported(status, second)))
    expect(state).toEqual({ ...pendingState, status, waMessageId: 'wamid.1', [field]: at(2), ...implied })
  }
})

test.each([
  {
    what: 'the earlier failure when a later one follows',
    reports: [failed(2, '131049'), failed(5, '131026')],
    errorCode: '131049',
  },
  {
    what: 'the earlier failure when it arrives second',
    reports: [failed(5, '131026'), failed(2, '131049')],
    errorCode: '131049',
  },
  {
    what: 'the lower code of two failures at the same time',
    reports: [failed(2, '131049'), failed(2, '131026')],
    errorCode: '131026',
  },
  {
    what: 'the lower code when it arrives first',
    reports: [failed(2, '131026'), failed(2, '131049')],
    errorCode: '131026',
  },
  {
    what: 'a failure without a code before one with a code at the same time',
    reports: [failed(2, '131026'), failed(2)],
    errorCode: null,
  },
  {
    what: 'a failure without a code when one with a code follows',
    reports: [failed(2), failed(2, '131026')],
    errorCode: null,
  },
  {
    what: 'the failure when a late sent status follows',
    reports: [failed(2, '131026'), reported('sent', 1)],
    errorCode: '131026',
  },
])('keeps $what', ({ reports, errorCode }) => {
  expect(applyAll(reports).state).toMatchObject({ status: 'failed', failedAt: at(2), errorCode })
})

test('clears the failure of a delivered message', () => {
  const { state } = applyAll([failed(2, '131026'), reported('delivered', 1), failed(1, '131026')])
  expect(state).toEqual({ ...pendingState, status: 'delivered', waMessageId: 'wamid.1', deliveredAt: at(1) })
})

test('keeps a known WhatsApp message ID', () => {
  const known = { ...pendingState, waMessageId: 'wamid.known' }
  expect(applyReport(known, reported('sent', 1)).state.waMessageId).toBe('wamid.known')
})

test.each([
  { current: 'pending', reported: 'sent', changed: true },
  { current: 'sent', reported: 'sent', changed: false },
  { current: 'sent', reported: 'delivered', changed: true },
  { current: 'delivered', reported: 'sent', changed: false },
  { current: 'delivered', reported: 'failed', changed: false },
  { current: 'failed', reported: 'delivered', changed: true },
] as const)('$reported after $current is a change: $changed', ({ current, reported: status, changed }) => {
  expect(applyReport({ ...pendingState, status: current }, reported(status, 2)).changed).toBe(changed)
})

function failure(message: string): StatusReport {
  return { waMessageId: 'wamid.1', status: 'failed', at: at(2), error: { code: '131026', message } }
}

test('keeps the first reason of a failure that is reported again', () => {
  const { state } = applyReport(applyReport(pendingState, failure('first')).state, failure('second'))
  expect(state.errorMessage).toBe('first')
})

test.each([
  { error: undefined, kept: undefined },
  { error: { code: '131026', message: '34600111222 is not on WhatsApp' }, kept: { code: '131026', message: '' } },
])('removes identifiers of the recipient from a report with the error $error', ({ error, kept }) => {
  const report: StatusReport = { waMessageId: 'wamid.34600111222', status: 'failed', at: at(2), error }
  expect(withoutRecipient(report)).toEqual({ waMessageId: '', status: 'failed', at: at(2), error: kept })
})
