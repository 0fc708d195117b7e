import { expect, test } from 'vitest'
import type { Delivery } from '../../../../contracts/dashboard/webhook.ts'
import { describeLastAttempt, groupDeliveries } from '../../../../src/dashboard/pages/webhooks/delivery-groups.ts'

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
