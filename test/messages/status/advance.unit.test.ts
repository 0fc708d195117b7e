import fc from 'fast-check'
import { expect, test } from 'vitest'
import { messageStatuses } from '../../../contracts/api/message.ts'
import type { MessageState } from '../../../src/messages/message.ts'
import { advance, applyReport, type StatusReport } from '../../../src/messages/status/advance.ts'

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

const start: MessageState = {
  status: 'pending',
  waMessageId: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  errorCode: null,
  errorMessage: null,
  pricing: null,
  waId: null,
  userId: null,
}

const report: fc.Arbitrary<StatusReport> = fc
  .record({
    status: fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    second: fc.integer({ min: 0, max: 5 }),
    code: fc.constantFrom('131026', '131049'),
  })
  .map(({ status, second, code }) => ({
    waMessageId: 'wamid.X',
    status,
    at: new Date(second * 1000),
    error: status === 'failed' ? { code, message: `reason of ${code}` } : undefined,
  }))

function applyAll(reports: StatusReport[]): { state: MessageState; emitted: string[] } {
  const emitted: string[] = []
  let state = start
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
