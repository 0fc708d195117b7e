import type { Messages } from '@lingui/core'
import { afterEach, expect, test } from 'vitest'
import type { Delivery } from '../../../../contracts/dashboard/webhook.ts'
import { describeLastAttempt, groupDeliveries } from '../../../../src/dashboard/pages/webhooks/delivery-groups.ts'
import { activate } from '../../../../src/dashboard/language/i18n.ts'
import { describeSince } from '../../../../src/dashboard/pages/webhooks/statistics.ts'

let id = 0

function delivery(changes: Partial<Delivery> & { answers?: (number | string)[] } = {}): Delivery {
  const { answers = [500], ...rest } = changes
  id += 1
  return {
    deliveryId: `dlv_${id}`,
    eventId: `evt_${id}`,
    type: 'message.delivered',
    state: 'waiting',
    createdAt: '2026-11-22T10:32:00.000Z',
    attempts: answers.map((answer, index) => ({
      number: index + 1,
      startedAt: '2026-11-22T10:32:00.000Z',
      durationMilliseconds: 12,
      ...(typeof answer === 'string'
        ? { error: answer }
        : { statusCode: answer, ...(answer >= 300 && { error: `HTTP ${answer}` }) }),
    })),
    ...rest,
  }
}

test.each([
  { differs: 'nothing', second: delivery({ createdAt: '2026-11-22T10:01:00.000Z' }), groups: 1 },
  { differs: 'earlier attempts', second: delivery({ answers: ['timed out', 500] }), groups: 1 },
  { differs: 'the hour', second: delivery({ createdAt: '2026-11-22T09:59:59.000Z' }), groups: 2 },
  { differs: 'the type', second: delivery({ type: 'message.read' }), groups: 2 },
  { differs: 'the state', second: delivery({ state: 'failed' }), groups: 2 },
  { differs: 'the last answer', second: delivery({ answers: [500, 'timed out'] }), groups: 2 },
  { differs: 'the first attempt', second: delivery({ answers: [] }), groups: 2 },
])('lists two deliveries in $groups rows if $differs differs', ({ second, groups }) => {
  const grouped = groupDeliveries([delivery(), second])

  expect(grouped).toHaveLength(groups)
  expect(new Set(grouped.map(({ key }) => key)).size).toBe(groups)
})

test('keeps the order of the list', () => {
  const [a, b, c] = [delivery(), delivery({ answers: [404] }), delivery()]

  expect(groupDeliveries([a, b, c]).map(({ deliveries }) => deliveries)).toEqual([[a, c], [b]])
})

test.each([
  { answers: [], says: undefined },
  { answers: [500, 200], says: 'HTTP 200' },
  { answers: ['connection refused'], says: 'Connection refused' },
])('describes the responses $answers as $says', ({ answers, says }) => {
  expect(describeLastAttempt(delivery({ answers }))).toBe(says)
})

afterEach(() => activate('en', {}))

const now = new Date(2026, 10, 27, 15, 42)
const times = {
  today: new Date(2026, 10, 27, 9, 5).toISOString(),
  yesterday: new Date(2026, 10, 26, 18, 4).toISOString(),
  earlier: new Date(2026, 10, 3, 18, 4).toISOString(),
}

test.each([
  { when: 'today', en: /^9:05\sAM$/, es: 'hoy, 9:05' },
  { when: 'yesterday', en: /^yesterday, 6:04\sPM$/, es: 'ayer, 18:04' },
  { when: 'earlier', en: /^Nov 3, 6:04\sPM$/, es: 'el 3 nov, 18:04' },
] as const)('says since when, if it was $when, in words that follow "since" and "desde"', async ({ when, en, es }) => {
  expect(describeSince(times[when], now)).toMatch(en)

  const file = '../../../../src/dashboard/language/catalogues/es.po'
  // Compiled by the plugin of the dashboard.
  activate('es', ((await import(file)) as { messages: Messages }).messages)
  expect(describeSince(times[when], now)).toBe(es)
})
