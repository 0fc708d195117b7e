import { expect, test } from 'vitest'
import type { QuietHours } from '../../../../contracts/dashboard/alert.ts'
import { inEnglish } from '../../../../contracts/facts/fact.ts'
import type { AlertChange } from '../../../../src/webhooks/alerts/report.ts'
import { type AlertFacts, decide } from '../../../../src/webhooks/alerts/rules/decide.ts'
import { findQuietEnd } from '../../../../src/webhooks/alerts/rules/quiet-hours.ts'
import {
  compareFailureRate,
  compareLag,
  compareStatuses,
  thresholdCodes,
} from '../../../../src/webhooks/alerts/rules/thresholds.ts'

const night = { timeZone: 'Europe/Madrid', from: '22:00', until: '07:00', exceptCritical: false } as const
const noRules = { quietHours: null, repeatHours: null }
/** 23:30 in Madrid. */
const late = new Date('2026-11-22T22:30:00Z')
const nightEnd = new Date('2026-11-23T06:00:00Z')

const facts: AlertFacts = {
  now: late,
  change: 'raised',
  severity: 'warning',
  previousSeverity: undefined,
  wasSent: false,
  acknowledged: false,
  recovered: false,
  rules: noRules,
}
const nothing = { send: false, dueAt: undefined }
const now = { send: true, dueAt: undefined }
const afterNight = { send: false, dueAt: nightEnd }
const again = { send: true, dueAt: new Date('2026-11-23T02:30:00Z') }
const quiet = { quietHours: night, repeatHours: null }
const exceptCritical = { quietHours: { ...night, exceptCritical: true }, repeatHours: null }
const repeating = { quietHours: null, repeatHours: 4 }

test.each<[string, Partial<AlertFacts>, ReturnType<typeof decide>]>([
  ['sends a new alert', {}, now],
  ['sends it again while it is repeated', { rules: repeating }, again],
  ['repeats it when it is due', { change: 'due', wasSent: true, rules: repeating }, again],
  ['stops repeating once it is acknowledged', { change: 'due', acknowledged: true, rules: repeating }, nothing],
  ['holds it in quiet hours', { rules: quiet }, afterNight],
  ['holds a critical one too', { severity: 'critical', rules: quiet }, afterNight],
  ['lets a critical one pass if the rules say so', { severity: 'critical', rules: exceptCritical }, now],
  ['holds a warning though critical ones pass', { rules: exceptCritical }, afterNight],
  ['holds a repetition in quiet hours', { change: 'due', wasSent: true, rules: quiet }, afterNight],
  ['sends it after quiet hours', { change: 'due', now: nightEnd, rules: quiet }, now],
  ['is silent about an acknowledged one', { acknowledged: true, previousSeverity: 'warning' }, nothing],
  [
    'sends an acknowledged one that became critical',
    { acknowledged: true, previousSeverity: 'warning', severity: 'critical' },
    now,
  ],
  [
    'is silent about an acknowledged critical one',
    { acknowledged: true, previousSeverity: 'critical', severity: 'critical' },
    nothing,
  ],
  [
    'is silent about an acknowledged one that is critical for the first time',
    { acknowledged: true, severity: 'critical' },
    nothing,
  ],
  [
    'is silent when an acknowledged one that became critical is due',
    { change: 'due', acknowledged: true, previousSeverity: 'warning', severity: 'critical' },
    nothing,
  ],
  [
    'sends the recovery of a critical one in quiet hours',
    { change: 'recovered', severity: 'critical', wasSent: true, rules: exceptCritical },
    now,
  ],
  [
    'does not repeat the recovery that is due',
    { change: 'due', recovered: true, wasSent: true, rules: repeating },
    now,
  ],
  ['tells the recovery', { change: 'recovered', wasSent: true }, now],
  ['tells the recovery of an acknowledged one', { change: 'recovered', wasSent: true, acknowledged: true }, now],
  ['does not repeat a recovery', { change: 'recovered', wasSent: true, rules: repeating }, now],
  ['reports no recovery of an alert that was not sent', { change: 'recovered', rules: quiet }, nothing],
  ['holds a recovery in quiet hours', { change: 'recovered', wasSent: true, rules: quiet }, afterNight],
  ['sends the recovery after quiet hours', { change: 'due', recovered: true, wasSent: true, now: nightEnd }, now],
])('%s', (_title, given, decision) => {
  expect(decide({ ...facts, ...given })).toEqual(decision)
})

test.each<[Partial<QuietHours>, string, string | undefined]>([
  [{}, '2026-11-22T20:59:59Z', undefined],
  [{}, '2026-11-22T21:00:00Z', '2026-11-23T06:00:00Z'],
  [{}, '2026-11-23T05:59:59Z', '2026-11-23T06:00:00Z'],
  [{}, '2026-11-23T06:00:00Z', undefined],
  // In summer, Madrid is two hours ahead of UTC.
  [{}, '2026-07-01T20:00:00Z', '2026-07-02T05:00:00Z'],
  // The clocks change during the night: first back, then forward.
  [{}, '2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
  [{}, '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
  [{ from: '12:00', until: '14:00' }, '2026-11-22T11:30:00Z', '2026-11-22T13:00:00Z'],
  [{ from: '12:00', until: '14:00' }, '2026-11-22T21:00:00Z', undefined],
  [{ timeZone: 'Asia/Kathmandu', from: '00:00', until: '06:15' }, '2026-11-22T18:15:00Z', '2026-11-23T00:30:00Z'],
  [{ timeZone: 'UTC', from: '00:00', until: '23:59' }, '2026-11-22T23:59:30Z', undefined],
  [{ timeZone: 'UTC', from: '00:30', until: '00:45' }, '2026-11-22T00:30:59Z', '2026-11-22T00:45:00Z'],
  [{ timeZone: 'UTC', from: '00:30', until: '00:45' }, '2026-11-22T00:29:59Z', undefined],
  // The end is in the repeated hour.
  [{ until: '02:30' }, '2026-10-24T21:00:00Z', '2026-10-25T00:30:00Z'],
  [{ until: '02:30' }, '2026-10-25T00:45:00Z', undefined],
  [{ until: '02:30' }, '2026-10-25T01:15:00Z', '2026-10-25T01:30:00Z'],
  // The end is in the skipped hour.
  [{ until: '02:30' }, '2026-03-28T22:00:00Z', '2026-03-29T00:30:00Z'],
  [{ until: '02:30' }, '2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'],
  [{ until: '02:30' }, '2026-03-29T00:45:00Z', '2026-03-29T01:30:00Z'],
])('finds the end of the quiet hours %o at %s', (hours, at, end) => {
  expect(findQuietEnd({ ...night, ...hours }, new Date(at))?.toISOString()).toBe(end && new Date(end).toISOString())
})

const number = { accountId: 'acc_1', whatsAppAccountId: 'wa_1', name: '+1 555' }

test.each([
  { sent: 80, failed: 20, limit: 20, open: undefined, expected: undefined },
  { sent: 79, failed: 21, limit: 20, open: undefined, expected: { kind: 'raised', severity: 'warning' } },
  { sent: 40, failed: 60, limit: 20, open: undefined, expected: { kind: 'raised', severity: 'critical' } },
  { sent: 40, failed: 60, limit: 20, open: 'warning', expected: { kind: 'raised', severity: 'critical' } },
  { sent: 40, failed: 60, limit: 20, open: 'critical', expected: undefined },
  { sent: 79, failed: 21, limit: 20, open: 'warning', expected: undefined },
  { sent: 84, failed: 16, limit: 20, open: 'warning', expected: undefined },
  { sent: 85, failed: 15, limit: 20, open: 'warning', expected: { kind: 'recovered' } },
  { sent: 0, failed: 19, limit: 20, open: undefined, expected: undefined },
  { sent: 0, failed: 0, limit: 20, open: 'critical', expected: { kind: 'recovered' } },
  { sent: 0, failed: 100, limit: null, open: undefined, expected: undefined },
] as const)('compares $failed failed of $sent sent with $limit% while $open is open', (given) => {
  const { sent, failed, limit, open, expected } = given
  const change = compareFailureRate(
    { ...number, traffic: { sent, failed, failures: [{ code: '131026', count: failed }] } },
    { failureRatePercent: limit, failureRateMinMessages: 20 },
    () => open,
  )
  const shown = change && { kind: change.kind, ...(change.kind === 'raised' && { severity: change.severity }) }
  expect(shown).toEqual(expected)
})

test.each([
  { seconds: 0, limit: 300, open: undefined, kind: undefined },
  { seconds: 300, limit: 300, open: undefined, kind: undefined },
  { seconds: 301, limit: 300, open: undefined, kind: 'raised' },
  { seconds: 400, limit: 300, open: 'warning', kind: undefined },
  { seconds: 226, limit: 300, open: 'warning', kind: undefined },
  { seconds: 0, limit: 300, open: 'warning', kind: 'recovered' },
  { seconds: 9000, limit: null, open: undefined, kind: undefined },
] as const)('compares a lag of $seconds seconds with $limit while $open is open', ({ seconds, limit, open, kind }) => {
  const change = compareLag({ accountId: 'acc_1', seconds }, { deliveryLagSeconds: limit }, () => open)
  expect(change?.kind).toBe(kind)
})

test('describes a failure rate with its most frequent code', () => {
  const traffic = { sent: 79, failed: 21, failures: [{ code: '131026', count: 20 }] }
  const rules = { failureRatePercent: 20, failureRateMinMessages: 20 }
  expect(inWords(compareFailureRate({ ...number, traffic }, rules, () => undefined))).toEqual({
    accountId: 'acc_1',
    code: 'failure_rate',
    subjectId: 'wa_1',
    kind: 'raised',
    severity: 'warning',
    title: '21% of the messages of +1 555 fail',
    paragraphs: [
      '21 of 100 messages of the last hour failed, most often with code 131026.',
      'Open a failed message to see what its code means and what to do.',
    ],
  })
})

test('describes a failure rate without codes, and its end', () => {
  const failing = { sent: 79, failed: 21, failures: [] }
  const raised = compareFailureRate(
    { ...number, traffic: failing },
    { failureRatePercent: 20, failureRateMinMessages: 20 },
    () => undefined,
  )
  expect(inWords(raised)?.paragraphs[0]).toBe('21 of 100 messages of the last hour failed.')

  const queried: string[][] = []
  const recovered = compareFailureRate(
    { ...number, traffic: { sent: 99, failed: 1, failures: [] } },
    { failureRatePercent: 20, failureRateMinMessages: 20 },
    (...about) => {
      queried.push(about)
      return 'critical'
    },
  )
  expect(queried).toEqual([['failure_rate', 'acc_1', 'wa_1']])
  expect(inWords(recovered)).toEqual({
    accountId: 'acc_1',
    code: 'failure_rate',
    subjectId: 'wa_1',
    kind: 'recovered',
    severity: 'critical',
    title: 'The messages of +1 555 fail less often',
    paragraphs: ['1 of 100 messages of the last hour failed.'],
  })
})

test.each([
  { sent: 0, failed: 20, severity: 'critical' },
  { sent: 10, failed: 10, severity: 'critical' },
  { sent: 11, failed: 10, severity: 'warning' },
])('rates $failed failed of $sent sent as $severity', ({ sent, failed, severity }) => {
  const traffic = { sent, failed, failures: [] }
  const change = compareFailureRate(
    { ...number, traffic },
    { failureRatePercent: 20, failureRateMinMessages: 20 },
    () => undefined,
  )
  expect(change?.severity).toBe(severity)
})

test('describes a lag and its end', () => {
  const queried: string[][] = []
  const compare = (seconds: number, open: 'warning' | undefined) =>
    inWords(
      compareLag({ accountId: 'acc_1', seconds }, { deliveryLagSeconds: 300 }, (...about) => {
        queried.push(about)
        return open
      }),
    )
  const about = { accountId: 'acc_1', code: 'delivery_lag', subjectId: 'acc_1', severity: 'warning' }
  expect(compare(300.6, undefined)).toEqual({
    ...about,
    kind: 'raised',
    title: 'Webhook deliveries are late',
    paragraphs: [
      'Messages are still sent; only their status webhooks are late.',
      'The oldest delivery has been due for 301 seconds.',
      'A slow endpoint delays its own deliveries. If none is slow, ask your operator whether the workers keep up.',
    ],
  })
  expect(compare(225, 'warning')).toEqual({
    ...about,
    kind: 'recovered',
    title: 'Webhook deliveries are on time again',
    paragraphs: ['No delivery is late.'],
  })
  expect(queried).toEqual([
    ['delivery_lag', 'acc_1', 'acc_1'],
    ['delivery_lag', 'acc_1', 'acc_1'],
  ])
})

test.each([
  { withoutStatus: 9, limit: 10, open: undefined, resumed: false, kind: undefined },
  { withoutStatus: 10, limit: 10, open: undefined, resumed: false, kind: 'raised' },
  { withoutStatus: 11, limit: 10, open: 'critical', resumed: false, kind: undefined },
  { withoutStatus: 0, limit: 10, open: 'critical', resumed: false, kind: undefined },
  { withoutStatus: 0, limit: 10, open: 'critical', resumed: true, kind: 'recovered' },
  { withoutStatus: 0, limit: 10, open: undefined, resumed: false, kind: undefined },
  { withoutStatus: 100, limit: null, open: undefined, resumed: false, kind: undefined },
  { withoutStatus: 0, limit: null, open: 'critical', resumed: true, kind: undefined },
] as const)('compares $withoutStatus messages without a status with $limit while $open is open', (given) => {
  const { withoutStatus, limit, open, resumed, kind } = given
  const change = compareStatuses({ ...number, withoutStatus, resumed }, { noStatusMinMessages: limit }, () => open)
  expect(change?.kind).toBe(kind)
})

test('describes missing statuses and their end', () => {
  const queried: string[][] = []
  const compare = (withoutStatus: number, open: 'critical' | undefined) =>
    inWords(
      compareStatuses(
        { ...number, withoutStatus, resumed: open !== undefined },
        { noStatusMinMessages: 1 },
        (...about) => {
          queried.push(about)
          return open
        },
      ),
    )
  const about = { accountId: 'acc_1', code: 'no_statuses', subjectId: 'wa_1', severity: 'critical' }
  expect(compare(12, undefined)).toEqual({
    ...about,
    kind: 'raised',
    title: 'No statuses arrive for +1 555',
    paragraphs: [
      'WhatsApp accepted 12 messages more than ten minutes ago, and no status has arrived since.',
      'Messages are still sent, but Waybill cannot tell whether they arrive.',
      'Check the callback URL of the app and the subscription in the setup of this WhatsApp account. If both are correct, WhatsApp may have an outage.',
    ],
  })
  expect(compare(1, undefined)?.paragraphs[0]).toBe(
    'WhatsApp accepted a message more than ten minutes ago, and no status has arrived since.',
  )
  expect(compare(0, 'critical')).toEqual({
    ...about,
    kind: 'recovered',
    title: 'Statuses arrive again for +1 555',
    paragraphs: ['WhatsApp reports the statuses of messages again.'],
  })
  expect(queried).toHaveLength(3)
  expect(new Set(queried.map((about) => about.join(' ')))).toEqual(new Set(['no_statuses acc_1 wa_1']))
})

test('lists the codes that have thresholds', () => {
  expect(thresholdCodes).toEqual(['failure_rate', 'delivery_lag', 'no_statuses', 'messaging_limit'])
})

function inWords(change: AlertChange | undefined) {
  return (
    change && { ...change, title: inEnglish(change.title), paragraphs: change.paragraphs.map((one) => inEnglish(one)) }
  )
}
