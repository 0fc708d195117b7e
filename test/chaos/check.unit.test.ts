import { expect, test } from 'vitest'
import type { Message } from '../../contracts/api/message.ts'
import type { MessageEvent } from '../../contracts/events.ts'
import { check, type CheckName, checks } from './check.ts'
import { failureCode, type ReportedStatus } from './scenarios.ts'
import type { Entry, EntryOf } from './ledger.ts'
import { createRandom } from './random.ts'

const second = 1000
/** Whole seconds, like the timestamps of statuses. */
const start = 1_800_000_000_000

interface Sent {
  key: string
  statuses?: ReportedStatus[]
}

const endpoint = 'marketing_messages'
const on = { node: 0, life: 1 }

/** The ledger entries of one message without faults. */
function sendMessage({ key, statuses = ['sent', 'delivered', 'read'] }: Sent): Entry[] {
  const [messageId, waMessageId, to] = [`msg_${key}`, `wamid.${key}`, '34600000002']
  const reports = statuses.map((status, index) => ({ status, index, timestamp: start / second + index + 1 }))
  const outcome = { kind: 'answered', status: 200, messageId, waMessageId } as const
  const message = toMessage(key, reports)
  return [
    { at: start, kind: 'attempt', key, number: 1, ...on, to },
    { at: start + 10, kind: 'received', key, messageId, to, endpoint },
    { at: start + 10, kind: 'accepted', messageId, waMessageId },
    { at: start + 20, kind: 'answer', key, number: 1, ...on, outcome },
    ...reports.flatMap((report): Entry[] => [
      { at: start + 100 + report.index, kind: 'reported', messageId, ...report },
      { at: start + 100 + report.index, kind: 'acknowledged', messageId, index: report.index },
      ...emitEvent(key, report),
    ]),
    { at: start + 60 * second, kind: 'message', via: 'list', message },
    { at: start + 60 * second, kind: 'message', via: 'get', message },
  ]
}

function emitEvent(key: string, { status, timestamp }: { status: ReportedStatus; timestamp: number }): Entry[] {
  const eventId = `evt_${key}_${status}`
  const at = new Date(timestamp * second).toISOString()
  const facts = { ...factsOf(key), waMessageId: `wamid.${key}`, ...(status === 'failed' && { error }), status }
  // Each status has its own event type.
  const event = { type: `message.${status}`, timestamp: at, data: facts } as MessageEvent
  return [
    {
      at: start + second,
      kind: 'webhook',
      eventId,
      verified: true,
      event,
      answer: { status: 200, milliseconds: 2 },
      sender: on,
    },
    { at: start + 2 * second, kind: 'followed', eventId },
    { at: start + 60 * second, kind: 'event', eventId, event },
  ]
}

const error = { code: String(failureCode), message: 'Message undeliverable' }

function factsOf(key: string) {
  return {
    messageId: `msg_${key}`,
    to: '34600000002',
    template: 'order_shipped',
    language: 'en',
    accountId: 'wa_1',
    externalId: key,
  }
}

function toMessage(key: string, reports: { status: ReportedStatus; timestamp: number }[]): Message {
  const timeOf = (wanted: ReportedStatus) => {
    const report = reports.find(({ status }) => status === wanted)
    return report && new Date(report.timestamp * second).toISOString()
  }
  const status = reports.at(-1)?.status ?? 'sent'
  const failedAt = status === 'failed' ? timeOf('failed') : undefined
  const times = { deliveredAt: timeOf('delivered'), readAt: timeOf('read'), failedAt }
  return {
    ...factsOf(key),
    waMessageId: `wamid.${key}`,
    status,
    createdAt: new Date(start).toISOString(),
    ...Object.fromEntries(Object.entries(times).filter(([, time]) => time !== undefined)),
    ...(status === 'failed' && { error }),
  }
}

/** A message that a killed process recorded but never sent; the client retries after 12 and 30 seconds. */
function neverDispatch(key: string): Entry[] {
  const inUse = { kind: 'answered', status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' } as const
  const to = '34600000002'
  const after = { node: 0, life: 2 }
  return [
    { at: start, kind: 'attempt', key, number: 1, ...on, to },
    { at: start + 5, kind: 'node', ...on, change: 'killed' },
    { at: start + 6, kind: 'answer', key, number: 1, ...on, outcome: { kind: 'lost', reason: 'UND_ERR_SOCKET' } },
    { at: start + second, kind: 'node', ...after, change: 'ready' },
    { at: start + 2 * second, kind: 'attempt', key, number: 2, ...after, to },
    { at: start + 2 * second, kind: 'answer', key, number: 2, ...after, outcome: inUse },
  ]
}

function later(entries: Entry[], milliseconds: number): Entry[] {
  return entries.map((entry) => ({ ...entry, at: entry.at + milliseconds }))
}

const healthy: Entry[] = [
  ...sendMessage({ key: 'K1' }),
  ...sendMessage({ key: 'K2', statuses: ['sent', 'failed'] }),
  ...sendMessage({ key: 'K3', statuses: ['failed', 'delivered'] }),
]

function found(entries: readonly Entry[]): CheckName[] {
  const sorted = entries.toSorted((a, b) => a.at - b.at)
  return [...new Set(check(sorted).map((violation) => violation.check))]
}

/** Changes all entries of a kind; returning `undefined` removes one. */
function change<Kind extends Entry['kind']>(
  kind: Kind,
  to: (entry: EntryOf<Kind>) => Entry | undefined,
  entries: readonly Entry[] = healthy,
): Entry[] {
  // The comparison above ensures the kind.
  return entries.flatMap((entry) => (entry.kind === kind ? (to(entry as EntryOf<Kind>) ?? []) : entry))
}

const drop = (id: string) => (entry: { messageId?: string; eventId?: string }) =>
  Object.values(entry).includes(id) ? undefined : (entry as Entry)

function answerTo(key: string, status: number, code: string): Entry[] {
  const at = start + 30 * second
  return [
    { at, kind: 'attempt', key, number: 2, ...on, to: '34600000002' },
    { at: at + 10, kind: 'answer', key, number: 2, ...on, outcome: { kind: 'answered', status, code } },
  ]
}

test('finds no violations in a ledger without faults', () => {
  expect(check(healthy.toSorted((a, b) => a.at - b.at))).toEqual([])
})

test('allows a second attempt after an endpoint refused the first one', () => {
  const first: Entry[] = [
    { at: start + 4, kind: 'received', key: 'K1', messageId: 'msg_K1', to: '34600000002', endpoint },
    { at: start + 5, kind: 'misrouted', messageId: 'msg_K1' },
  ]
  expect(check([...first, ...healthy].toSorted((a, b) => a.at - b.at))).toEqual([])
})

const tampered: { fault: string; finds: CheckName[]; entries: Entry[] }[] = [
  {
    fault: 'WhatsApp accepted a second message for a key',
    finds: ['double sends', 'states'],
    entries: [
      ...healthy,
      { at: start + 50, kind: 'received', key: 'K1', messageId: 'msg_K1b', to: '34600000002', endpoint },
      { at: start + 50, kind: 'accepted', messageId: 'msg_K1b', waMessageId: 'wamid.K1b' },
    ],
  },
  {
    fault: 'one message was sent twice',
    finds: ['double sends'],
    entries: [...healthy, { at: start + 50, kind: 'accepted', messageId: 'msg_K1', waMessageId: 'wamid.K1b' }],
  },
  {
    fault: 'a message was sent by the other endpoint although nothing refused it',
    finds: ['double sends'],
    entries: [
      ...healthy,
      { at: start + 5, kind: 'received', key: 'K1', messageId: 'msg_K1', to: '34600000002', endpoint },
    ],
  },
  {
    fault: 'an acknowledged message is missing',
    finds: ['answered sends', 'states'],
    entries: change('message', ({ message, ...entry }) =>
      message.messageId === 'msg_K1' ? undefined : { ...entry, message },
    ),
  },
  {
    fault: 'a send returned 200 but WhatsApp never accepted it',
    finds: ['answered sends', 'states', 'events'],
    entries: change('accepted', drop('msg_K1')),
  },
  {
    fault: 'an acknowledged status was lost',
    finds: ['states'],
    entries: change('message', (entry) => {
      if (entry.message.messageId !== 'msg_K1') return entry
      const { readAt: _, ...message } = entry.message
      return { ...entry, message: { ...message, status: 'delivered' } }
    }),
  },
  {
    fault: 'the status of a message went backwards',
    finds: ['states'],
    entries: change('message', (entry) =>
      entry.message.messageId === 'msg_K3'
        ? { ...entry, message: { ...entry.message, status: 'failed', error } }
        : entry,
    ),
  },
  {
    fault: 'a status was never acknowledged',
    finds: ['states'],
    entries: change('acknowledged', (entry) => (entry.messageId === 'msg_K1' && entry.index === 2 ? undefined : entry)),
  },
  { fault: 'WhatsApp has no record of a status', finds: ['states', 'events'], entries: withoutStatus('msg_K1', 2) },
  {
    fault: 'the delivery time of a message is wrong',
    finds: ['states'],
    entries: change('message', (entry) =>
      entry.message.messageId === 'msg_K1'
        ? { ...entry, message: { ...entry.message, deliveredAt: '2026-01-01T00:00:00.000Z' } }
        : entry,
    ),
  },
  {
    fault: 'an event is missing',
    finds: ['events', 'webhooks', 'event.list'],
    entries: change('event', drop('evt_K1_delivered')),
  },
  {
    fault: 'one status emitted two events',
    finds: ['events'],
    entries: [
      ...healthy,
      ...emitEvent('K1', { status: 'read', timestamp: start / second + 3 }).map((entry) =>
        'eventId' in entry ? { ...entry, eventId: 'evt_again' } : entry,
      ),
    ],
  },
  {
    fault: 'the payload of an event does not match its message',
    finds: ['events', 'webhooks'],
    entries: change('event', (entry) =>
      entry.eventId === 'evt_K1_read'
        ? { ...entry, event: { ...entry.event, data: { ...entry.event.data, to: '34600000004' } } as MessageEvent }
        : entry,
    ),
  },
  {
    fault: 'a rejected send emitted an event',
    finds: ['events'],
    entries: [
      ...change('answer', (entry) => (entry.key === 'K2' ? undefined : entry), withRefusal('K2')),
      ...answerTo('K2', 422, 'MESSAGE_REJECTED'),
    ],
  },
  { fault: 'a webhook never arrived', finds: ['webhooks'], entries: change('webhook', drop('evt_K1_read')) },
  {
    fault: 'the signature of a webhook is invalid',
    finds: ['webhooks'],
    entries: change('webhook', (entry) => ({ ...entry, verified: false })),
  },
  {
    fault: 'the event reader skipped an event',
    finds: ['event.list'],
    entries: change('followed', drop('evt_K1_read')),
  },
  {
    fault: 'the event reader received an event twice',
    finds: ['event.list'],
    entries: [...healthy, { at: start + 40 * second, kind: 'followed', eventId: 'evt_K1_read' }],
  },
  {
    fault: 'a key returned 200 and then 422',
    finds: ['idempotency'],
    entries: [...healthy, ...answerTo('K1', 422, 'MESSAGE_REJECTED')],
  },
  {
    fault: 'a valid request returned 404',
    finds: ['idempotency'],
    entries: [...healthy, ...answerTo('K1', 404, 'TEMPLATE_NOT_FOUND')],
  },
  {
    fault: 'a request returned 500',
    finds: ['idempotency'],
    entries: [...healthy, ...answerTo('K1', 500, 'INTERNAL_ERROR')],
  },
  {
    fault: 'WhatsApp accepted a message that was reported as not sent',
    finds: ['idempotency'],
    entries: change('answer', (entry) =>
      entry.key === 'K1'
        ? { ...entry, outcome: { kind: 'answered', status: 503, code: 'WHATSAPP_UNAVAILABLE' } }
        : entry,
    ),
  },
  {
    fault: 'a process exited on its own',
    finds: ['processes'],
    entries: [...healthy, { at: start, kind: 'node', ...on, change: 'exited', detail: 'code 1' }],
  },
  {
    fault: 'a process did not start although the database was available',
    finds: ['processes'],
    entries: [...healthy, { at: start, kind: 'node', ...on, change: 'failed to start', detail: 'code 1' }],
  },
  {
    fault: 'a valid callback was rejected',
    finds: ['processes'],
    entries: [...healthy, { at: start, kind: 'callback', status: 401 }],
  },
  {
    fault: 'a read failed',
    finds: ['processes'],
    entries: [...healthy, { at: start, kind: 'read', path: '/api/v1/event', status: 500 }],
  },
  {
    fault: 'a key stays blocked by a message that was never dispatched',
    finds: ['never dispatched'],
    entries: [...healthy, ...neverDispatch('K4')],
  },
  {
    fault: 'the journal marks messages as written too early',
    finds: ['never dispatched'],
    entries: [...healthy, ...killInBetween(['K4', 'K5', 'K6', 'K7'])],
  },
  {
    fault: 'an acknowledged import is missing',
    finds: ['other work'],
    entries: [
      ...healthy,
      { at: start, kind: 'work', work: 'import', ids: ['34790000001', '34790000002'] },
      { at: start + second, kind: 'work found', ids: ['34790000001'] },
    ],
  },
  {
    fault: 'WhatsApp created a template twice',
    finds: ['other work'],
    entries: [
      ...healthy,
      { at: start, kind: 'template created', name: 'made_1' },
      { at: start + second, kind: 'template created', name: 'made_1' },
    ],
  },
  {
    fault: 'a valid upload was refused',
    finds: ['other work'],
    entries: [...healthy, { at: start, kind: 'work refused', work: 'upload', status: 415, problem: 'not a PDF' }],
  },
  {
    fault: 'the key of an undispatched message is released late',
    finds: ['never dispatched'],
    entries: [...healthy, ...neverDispatch('K4'), ...later(sendMessage({ key: 'K4' }), 30 * second)],
  },
  {
    fault: 'an undispatched message stays pending although its key was released',
    finds: ['never dispatched'],
    entries: [
      ...healthy,
      ...neverDispatch('K4'),
      ...later(sendMessage({ key: 'K4' }), 5 * second),
      {
        at: start + 60 * second,
        kind: 'message',
        via: 'list',
        message: { ...factsOf('K4'), messageId: 'msg_K4a', status: 'pending', createdAt: '2026-01-01T00:00:00.000Z' },
      },
    ],
  },
]

/** Messages that killed processes marked as written for these keys, although WhatsApp received none of them. */
function killInBetween(keys: string[]): Entry[] {
  return [
    ...keys.flatMap((key) => neverDispatch(key)),
    { at: start + 5, kind: 'marked', ...on, messageIds: keys.map((key) => `msg_${key}`) },
    ...keys.map((key): Entry => {
      const message = { ...factsOf(key), status: 'pending', createdAt: '2026-01-01T00:00:00.000Z' } as const
      return { at: start + 60 * second, kind: 'message', via: 'list', message }
    }),
  ]
}

function withoutStatus(messageId: string, index: number): Entry[] {
  const isOther = (entry: { messageId: string; index: number }) =>
    entry.messageId !== messageId || entry.index !== index
  const unreported = change('reported', (entry) => (isOther(entry) ? entry : undefined))
  return change('acknowledged', (entry) => (isOther(entry) ? entry : undefined), unreported)
}

/** The same messages, one of which WhatsApp rejected immediately. */
function withRefusal(key: string): Entry[] {
  return change('accepted', (entry) =>
    entry.messageId === `msg_${key}`
      ? { at: entry.at, kind: 'refused', messageId: entry.messageId, code: 131026 }
      : entry,
  )
}

test.each(tampered)('detects that $fault', ({ entries, finds }) => {
  expect(found(entries)).toEqual(expect.arrayContaining(finds))
})

test('has a faulty ledger for every check', () => {
  expect([...new Set(tampered.flatMap(({ finds }) => finds))].toSorted()).toEqual(Object.keys(checks).toSorted())
})

test.each(
  Object.entries({
    'a rejection followed by a delivery': change('answer', (entry) =>
      entry.key === 'K3' ? { ...entry, outcome: { kind: 'answered', status: 422, code: 'MESSAGE_REJECTED' } } : entry,
    ),
    'a repeated webhook': [...healthy, ...healthy.filter(({ kind }) => kind === 'webhook')],
    'a message.sent event from the response to the send': [
      ...later(emitEvent('K3', { status: 'sent', timestamp: start / second }), -1).map((entry) =>
        entry.kind === 'event' ? { ...entry, at: entry.at - second } : entry,
      ),
      ...healthy,
    ],
    'a failed start while the database is unavailable': [
      ...healthy,
      { at: start, kind: 'fault', fault: 'database', phase: 'begin', detail: 'crash' },
      { at: start + 10, kind: 'node', ...on, change: 'failed to start', detail: 'code 1' },
      { at: start + 20, kind: 'fault', fault: 'database', phase: 'end', detail: 'crash' },
    ] satisfies Entry[],
    'a process that was killed between the mark in its journal and the write': [...healthy, ...killInBetween(['K4'])],
    'a key that is released late because every start was killed immediately': [
      ...healthy,
      ...neverDispatch('K4'),
      { at: start + 3 * second, kind: 'node', node: 0, life: 2, change: 'killed' },
      { at: start + 26 * second, kind: 'node', node: 0, life: 3, change: 'ready' },
      ...later(sendMessage({ key: 'K4' }), 30 * second),
    ] satisfies Entry[],
    'an undispatched message whose key is released in time': [
      ...healthy,
      ...neverDispatch('K4'),
      ...later(sendMessage({ key: 'K4' }), 5 * second),
    ],
  }),
)('accepts %s', (_what, entries) => {
  expect(found(entries)).toEqual([])
})

function choose(seed: number): string[] {
  const random = createRandom(seed)
  return Array.from({ length: 4_000 }, () => random.weighted({ often: 3, seldom: 1 }))
}

test('makes the same weighted choices for the same seed', () => {
  expect(choose(7)).toEqual(choose(7))
  expect(choose(7)).not.toEqual(choose(8))
  const often = choose(7).filter((choice) => choice === 'often').length
  expect(often / 4_000).toBeCloseTo(0.75, 1)
})
