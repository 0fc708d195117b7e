import type { Message } from '../../contracts/api/message.ts'
import type { MessageEvent } from '../../contracts/events.ts'
import type { Entry, EntryOf } from './ledger.ts'

/** A request with an idempotency key and the response its client received. */
export interface Attempt extends EntryOf<'attempt'> {
  answer: EntryOf<'answer'> | undefined
}

/** A message as seen by WhatsApp, under the ID that Waybill assigned. */
export interface UpstreamMessage {
  messageId: string
  key: string
  to: string
  receivedAt: number[]
  /** The endpoints that received it, in order. */
  endpoints: string[]
  /** How often an endpoint refused it as belonging to the other one. */
  misrouted: number
  accepted: { at: number; waMessageId: string }[]
  refused: EntryOf<'refused'>[]
  /** In the order in which they were reported and acknowledged: each waited for the previous one. */
  statuses: (EntryOf<'reported'> & { acknowledged: boolean })[]
}

export interface ListedEvent {
  eventId: string
  event: MessageEvent
}

/** The ledger grouped by subject. */
export interface History {
  /** By idempotency key. */
  attempts: Map<string, Attempt[]>
  /** By Waybill's message ID. */
  upstream: Map<string, UpstreamMessage>
  listed: Map<string, Message>
  got: Map<string, Message>
  /** In the order of `event.list`. */
  events: ListedEvent[]
  followed: string[]
  webhooks: Map<string, EntryOf<'webhook'>[]>
  /** When processes read a 2xx of the receiver, by event. */
  answersRead: Map<string, number[]>
  work: EntryOf<'work'>[]
  refusedWork: EntryOf<'work refused'>[]
  createdTemplates: string[]
  /** What the acknowledged work names and exists in the end. */
  foundWork: Set<string>
  nodes: EntryOf<'node'>[]
  /** Messages that a killed process had marked as written; its journal does not show whether WhatsApp received them. */
  marked: Set<string>
  faults: EntryOf<'fault'>[]
  callbacks: EntryOf<'callback'>[]
  reads: EntryOf<'read'>[]
  endsAt: number
}

export function toHistory(entries: readonly Entry[]): History {
  const history: History = {
    attempts: new Map(),
    upstream: new Map(),
    listed: new Map(),
    got: new Map(),
    events: [],
    followed: [],
    webhooks: new Map(),
    answersRead: new Map(),
    work: [],
    refusedWork: [],
    createdTemplates: [],
    foundWork: new Set(),
    nodes: [],
    marked: new Set(),
    faults: [],
    callbacks: [],
    reads: [],
    endsAt: entries.find(({ kind }) => kind === 'message' || kind === 'event')?.at ?? entries.at(-1)?.at ?? 0,
  }
  for (const entry of entries) add(history, entry)
  return history
}

function add(history: History, entry: Entry): void {
  switch (entry.kind) {
    case 'attempt':
      return push(history.attempts, entry.key, { ...entry, answer: undefined })
    case 'answer':
      return addAnswer(history, entry)
    case 'received':
      return addReceived(upstreamMessage(history, entry.messageId, entry), entry)
    case 'misrouted':
      return void upstreamMessage(history, entry.messageId).misrouted++
    case 'accepted':
      return void upstreamMessage(history, entry.messageId).accepted.push(entry)
    case 'refused':
      return void upstreamMessage(history, entry.messageId).refused.push(entry)
    case 'reported':
      return void upstreamMessage(history, entry.messageId).statuses.push({ ...entry, acknowledged: false })
    case 'acknowledged':
      return acknowledge(upstreamMessage(history, entry.messageId), entry.index)
    case 'webhook':
      return push(history.webhooks, entry.eventId, entry)
    case 'answer read':
      return push(history.answersRead, entry.eventId, entry.at)
    case 'followed':
      return void history.followed.push(entry.eventId)
    case 'message':
      return void (entry.via === 'list' ? history.listed : history.got).set(entry.message.messageId, entry.message)
    case 'event':
      return void history.events.push(entry)
    case 'work':
      return void history.work.push(entry)
    case 'work refused':
      return void history.refusedWork.push(entry)
    case 'template created':
      return void history.createdTemplates.push(entry.name)
    case 'work found':
      for (const id of entry.ids) history.foundWork.add(id)
      return
    case 'node':
      return void history.nodes.push(entry)
    case 'marked':
      for (const id of entry.messageIds) history.marked.add(id)
      return
    case 'fault':
      return void history.faults.push(entry)
    case 'callback':
      return void history.callbacks.push(entry)
    case 'read':
      return void history.reads.push(entry)
  }
}

function push<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key)
  if (items) items.push(item)
  else map.set(key, [item])
}

function addAnswer(history: History, answer: EntryOf<'answer'>): void {
  const attempts = history.attempts.get(answer.key) ?? []
  const attempt = attempts.find(({ number, answer: known }) => number === answer.number && !known)
  if (attempt) attempt.answer = answer
}

function upstreamMessage(
  history: History,
  messageId: string,
  { key, to }: { key: string; to: string } = { key: '', to: '' },
): UpstreamMessage {
  const known = history.upstream.get(messageId)
  if (known) return known
  const added = {
    messageId,
    key,
    to,
    receivedAt: [],
    endpoints: [],
    misrouted: 0,
    accepted: [],
    refused: [],
    statuses: [],
  }
  history.upstream.set(messageId, added)
  return added
}

function addReceived(message: UpstreamMessage, { at, endpoint }: EntryOf<'received'>): void {
  message.receivedAt.push(at)
  message.endpoints.push(endpoint)
}

function acknowledge(message: UpstreamMessage, index: number): void {
  for (const status of message.statuses) if (status.index === index) status.acknowledged = true
}
