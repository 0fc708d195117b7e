import { expect, test } from 'vitest'
import { toHistory } from './history.ts'
import type { Entry, WebhookAnswer } from './ledger.ts'
import { countRepeatedWebhooks } from './repeated-webhooks.ts'

const start = 1_800_000_000_000
const on = { node: 0, life: 1 }
const success = { status: 200, milliseconds: 2 }

/** An attempt whose request arrived this many milliseconds after the start. */
function receive(milliseconds: number, answer: WebhookAnswer, eventId = 'evt_1'): Entry {
  const at = start + milliseconds + answer.milliseconds
  return { at, kind: 'webhook', eventId, verified: true, event: undefined, answer, sender: on }
}

function read(milliseconds: number): Entry {
  return { at: start + milliseconds, kind: 'answer read', eventId: 'evt_1' }
}

test.each(
  Object.entries({
    'nothing if each webhook is acknowledged once': { entries: [receive(0, success), read(3)], counts: [1, 0, 0, 0] },
    'no attempt after an error': {
      entries: [receive(0, { status: 500, milliseconds: 2 }), receive(1_000, success), read(1_003)],
      counts: [1, 0, 0, 0],
    },
    'no attempt after a late answer': {
      entries: [receive(0, { status: 200, milliseconds: 1_500 }), receive(2_000, success), read(2_003)],
      counts: [1, 0, 0, 0],
    },
    'no attempt after the sender hung up': {
      entries: [receive(0, { status: undefined, milliseconds: 2 }), receive(2_000, success)],
      counts: [1, 0, 0, 0],
    },
    'no attempt after an answer to a killed process': {
      entries: [
        { at: start, kind: 'node', ...on, change: 'killed' },
        receive(0, success),
        receive(9_000, success),
      ] as Entry[],
      counts: [0, 0, 0, 0],
    },
    'no attempt that had begun before the answer': {
      entries: [receive(0, success), receive(1, success), read(3)],
      counts: [1, 0, 0, 0],
    },
    'a repeat although the answer was read': {
      entries: [receive(0, success), read(3), receive(9_000, success), read(9_003)],
      counts: [1, 1, 1, 0],
    },
    'a repeat because the answer was not read': {
      entries: [receive(0, success), receive(9_000, success), read(9_003)],
      counts: [1, 1, 0, 1],
    },
    'each event by itself': {
      entries: [receive(0, success), receive(9_000, success), receive(0, success, 'evt_2')],
      counts: [2, 1, 0, 1],
    },
  }),
)('counts %s', (_what, { entries, counts }) => {
  const sorted = entries.toSorted((a, b) => a.at - b.at)
  const { acknowledged, repeated, read: afterRead, unread } = countRepeatedWebhooks(toHistory(sorted))
  expect([acknowledged, repeated, afterRead, unread]).toEqual(counts)
})
