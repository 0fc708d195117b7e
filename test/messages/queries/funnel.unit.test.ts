import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Funnel } from '../../../contracts/dashboard/overview.ts'
import { countFailed, countInTransit, segments, toSegments } from '../../../src/dashboard/pages/overview/statistics.ts'
import type { MessageState } from '../../../src/messages/message.ts'
import type { Count } from '../../../src/messages/queries/counts-store.ts'
import { toCounted } from '../../../src/messages/queries/overview.ts'
import { applyReport, type StatusReport } from '../../../src/messages/status/advance.ts'
import { pendingState } from '../../support/stored-messages.ts'

const days = ['2026-11-20', '2026-11-21', '2026-11-22']
const sentAt = new Date('2026-11-20T12:00:00Z')

/** The outcome of the send, and the statuses that WhatsApp reported afterwards. */
interface History {
  day: string
  send: 'accepted' | 'refused' | 'unknown' | 'resolved as sent' | 'resolved as failed'
  code: string
  template: string
  reports: Pick<StatusReport, 'status' | 'at' | 'error'>[]
}

const histories: fc.Arbitrary<History[]> = fc.array(
  fc.record({
    day: fc.constantFrom(...days),
    send: fc.constantFrom('accepted', 'refused', 'unknown', 'resolved as sent', 'resolved as failed'),
    code: fc.constantFrom('131026', '190', 'WHATSAPP_UNAVAILABLE'),
    template: fc.constantFrom('order_shipped', 'order_delivered', 'welcome'),
    reports: fc.array(
      fc.record({
        status: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
        at: fc.integer({ min: -90, max: 100_000 }).map((seconds) => new Date(sentAt.getTime() + seconds * 1000)),
        error: fc.constantFrom(undefined, { code: '131049', message: 'Withheld' }),
      }),
      { maxLength: 4 },
    ),
  }),
  { maxLength: 60 },
)

function afterSend({ send, code }: History): MessageState {
  switch (send) {
    case 'accepted':
      return { ...pendingState, status: 'sent', waMessageId: 'wamid.1', sentAt }
    case 'refused':
      return { ...pendingState, status: 'failed', failedAt: sentAt, errorCode: code }
    case 'unknown':
      return pendingState
    case 'resolved as sent':
      return { ...pendingState, status: 'sent', sentAt }
    case 'resolved as failed':
      return { ...pendingState, status: 'failed', failedAt: sentAt, errorCode: 'RESOLVED_AS_FAILED' }
  }
}

const steps = [0, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]

/** Counts a message by each dimension, as the trigger in message-counts.ts does. */
function toCounts(history: History): Count[] {
  const state = history.reports.reduce(
    (state, report) => applyReport(state, { ...report, waMessageId: 'wamid.1' }).state,
    afterSend(history),
  )
  const seconds = state.sentAt && state.deliveredAt && (state.deliveredAt.getTime() - state.sentAt.getTime()) / 1000
  const counted = { status: state.status, accepted: state.waMessageId !== null, count: 1 }
  const step = seconds === null ? -1 : (steps.findLast((step) => step <= seconds) ?? 0)
  return [
    { dimension: 'slot', key: String(days.indexOf(history.day)), ...counted },
    { dimension: 'reason', key: state.errorCode ?? '', ...counted },
    { dimension: 'deliverySeconds', key: String(step), ...counted },
    { dimension: 'template', key: history.template, ...counted },
  ]
}

const overviewOf = (of: readonly History[]) =>
  toCounted(
    days.map((date) => ({ date })),
    of.flatMap(toCounts),
    new Map(),
  )

/** The furthest stage of a message, derived from the reports about it and not from its stored state. */
function stageOf({
  send,
  reports,
}: History): 'pending' | 'accepted' | 'delivered' | 'read' | 'refused' | 'undelivered' {
  const reported = new Set(reports.map(({ status }) => status))
  if (reported.has('read')) return 'read'
  if (reported.has('delivered')) return 'delivered'
  if (reported.has('failed')) return 'undelivered'
  // Any status proves that WhatsApp has the message.
  if (send === 'refused' || send === 'resolved as failed') return reported.size > 0 ? 'undelivered' : 'refused'
  return send === 'unknown' && reported.size === 0 ? 'pending' : 'accepted'
}

function countStages(of: readonly History[]): Funnel {
  const at = Map.groupBy(of, stageOf)
  const count = (...stages: ReturnType<typeof stageOf>[]) =>
    stages.reduce((sum, stage) => sum + (at.get(stage)?.length ?? 0), 0)
  return {
    attempted: of.length - count('pending'),
    accepted: count('accepted', 'delivered', 'read', 'undelivered'),
    delivered: count('delivered', 'read'),
    read: count('read'),
    refused: count('refused'),
    undelivered: count('undelivered'),
  }
}

function add(parts: readonly Funnel[]): Funnel {
  const sum = (read: (funnel: Funnel) => number) => parts.reduce((total, part) => total + read(part), 0)
  return {
    attempted: sum(({ attempted }) => attempted),
    accepted: sum(({ accepted }) => accepted),
    delivered: sum(({ delivered }) => delivered),
    read: sum(({ read }) => read),
    refused: sum(({ refused }) => refused),
    undelivered: sum(({ undelivered }) => undelivered),
  }
}

test('returns consistent numbers in the overview for any history of the messages', () => {
  fc.assert(
    fc.property(histories, (of) => {
      const { totals, days: daily, failures, timeToDelivered, templates } = overviewOf(of)

      expect(totals).toEqual(countStages(of))
      expect(totals.attempted).toBe(totals.accepted + totals.refused)
      expect(totals.accepted).toBe(totals.delivered + totals.undelivered + countInTransit(totals))
      expect(countInTransit(totals)).toBeGreaterThanOrEqual(0)
      expect(totals.read).toBeLessThanOrEqual(totals.delivered)

      expect(add(daily)).toEqual(totals)
      expect(daily.map(({ date, ...counts }) => [date, counts])).toEqual(
        days.map((day) => [day, countStages(of.filter((history) => history.day === day))]),
      )

      // The overview lists all templates and reasons of this test.
      expect(add(templates)).toEqual(totals)
      expect(templates.map(({ key, ...counts }) => [key, counts])).toEqual(
        templates.map(({ key }) => [key, countStages(of.filter(({ template }) => template === key))]),
      )
      const reasons = { refused: 0, undelivered: 0 }
      for (const { refused, undelivered } of failures) {
        reasons.refused += refused
        reasons.undelivered += undelivered
      }
      expect(reasons).toEqual({ refused: totals.refused, undelivered: totals.undelivered })
      expect(failures.every((failure) => countFailed(failure) > 0)).toBe(true)

      const timed = timeToDelivered.reduce((sum, { count }) => sum + count, 0)
      expect(timed).toBeLessThanOrEqual(totals.delivered)
    }),
    { numRuns: 300 },
  )
})

test('ends the colours of a bar at the numbers of the funnel', () => {
  fc.assert(
    fc.property(histories, (of) => {
      const { totals } = overviewOf(of)
      const parts = toSegments(totals)
      let top = 0
      const tops = Object.fromEntries(segments.map((segment) => [segment, (top += parts[segment])]))

      expect(tops).toEqual({
        read: totals.read,
        delivered: totals.delivered,
        inTransit: totals.accepted - totals.undelivered,
        undelivered: totals.accepted,
        refused: totals.attempted,
      })
    }),
  )
})
