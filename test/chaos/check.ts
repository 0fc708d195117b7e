import { isDeepStrictEqual } from 'node:util'
import type { Message, MessageStatus } from '../../contracts/api/message.ts'
import { failureCode, type ReportedStatus, templateOf } from './scenarios.ts'
import { type Attempt, type History, type ListedEvent, toHistory, type UpstreamMessage } from './history.ts'
import type { Entry } from './ledger.ts'
import { findNeverDispatched, listKilledInBetween, maxReleaseMilliseconds } from './never-dispatched.ts'

/**
 * The required final state of a message, computed only from what WhatsApp reported. It is written from the documented
 * guarantees and shares no code with the service, so that a mistake in either one is found.
 */
interface Expected {
  /** Any of these is correct. */
  statuses: readonly MessageStatus[]
  waMessageId: string | undefined
  deliveredAt: string | undefined
  readAt: string | undefined
  failedAt: string | undefined
  errorCode: string | undefined
  /** In this order. */
  events: readonly ReportedStatus[]
  /** `message.sent` may come first if the response was stored before the first status arrived. */
  mayEmitSent: boolean
}

/** A delivery overrides a failure, since the recipient has the message. */
const ranks: Record<MessageStatus, number> = { pending: 0, sent: 1, failed: 2, delivered: 3, read: 4 }

/** One for each possible outcome: a status that was reported but not acknowledged may or may not have been applied. */
function expectAnyOf(message: UpstreamMessage): Expected[] {
  const acknowledged = message.statuses.filter((status) => status.acknowledged)
  const expected = expectAfter(message, acknowledged)
  return acknowledged.length === message.statuses.length
    ? [expected]
    : [expected, expectAfter(message, message.statuses)]
}

function expectAfter(message: UpstreamMessage, reports: UpstreamMessage['statuses']): Expected {
  const events: ReportedStatus[] = []
  for (const { status } of reports) {
    if (ranks[status] <= ranks[events.at(-1) ?? 'pending']) continue
    // A message that is read has been delivered.
    if (status === 'read' && events.at(-1) !== 'delivered') events.push('delivered')
    events.push(status)
  }
  const last = events.at(-1)
  const earliest = (...wanted: ReportedStatus[]) => {
    const times = reports.filter(({ status }) => wanted.includes(status)).map(({ timestamp }) => timestamp)
    return times.length === 0 ? undefined : new Date(Math.min(...times) * 1000).toISOString()
  }
  const hasFailed = last === 'failed'
  return {
    statuses: last ? [last] : withoutStatus(message),
    waMessageId: message.accepted[0]?.waMessageId,
    deliveredAt: earliest('delivered', 'read'),
    readAt: earliest('read'),
    failedAt: hasFailed ? earliest('failed') : undefined,
    errorCode: hasFailed ? String(failureCode) : undefined,
    events,
    mayEmitSent: message.accepted.length > 0 && events[0] !== 'sent',
  }
}

/** A process knows the outcome of its send unless it was killed or got no response. */
function withoutStatus({ accepted }: UpstreamMessage): MessageStatus[] {
  return accepted.length > 0 ? ['pending', 'sent'] : ['pending', 'failed']
}

export const checks = {
  'double sends': checkDoubleSends,
  'answered sends': checkAnsweredSends,
  states: checkStates,
  events: checkEvents,
  webhooks: checkWebhooks,
  'never dispatched': checkNeverDispatched,
  'event.list': checkEventList,
  idempotency: checkIdempotency,
  'other work': checkOtherWork,
  processes: checkProcesses,
} as const satisfies Record<string, (history: History) => Problem[]>
export type CheckName = keyof typeof checks

interface Problem {
  /** The ID of a key, a message, an event or a process. */
  id: string
  problem: string
}

export interface Violation extends Problem {
  check: CheckName
}

/** Lists every ledger entry that violates a guarantee of Waybill. */
export function check(entries: readonly Entry[]): Violation[] {
  const history = toHistory(entries)
  // `Object.keys` returns only the keys of the table's type.
  return (Object.keys(checks) as CheckName[]).flatMap((name) =>
    checks[name](history).map((problem) => ({ check: name, ...problem })),
  )
}

function checkDoubleSends({ upstream }: History): Problem[] {
  const acceptedBy = new Map<string, string[]>()
  for (const { key, messageId, accepted } of upstream.values())
    for (const _ of accepted) acceptedBy.set(key, [...(acceptedBy.get(key) ?? []), messageId])
  const accepted = [...acceptedBy]
    .filter(([, messages]) => messages.length > 1)
    .map(([key, messages]) => ({ id: key, problem: `WhatsApp accepted ${messages.length}: ${messages.join(', ')}` }))
  return [...accepted, ...findRiskyAttempts([...upstream.values()])]
}

/** Only an answer that proves that nothing was sent allows a further attempt, also by the other endpoint. */
function findRiskyAttempts(messages: readonly UpstreamMessage[]): Problem[] {
  return messages
    .filter(({ endpoints, refused, misrouted }) => endpoints.length > 1 + refused.length + misrouted)
    .map(({ messageId, endpoints }) => ({ id: messageId, problem: `was sent again to ${endpoints.join(', ')}` }))
}

function checkAnsweredSends({ attempts, upstream, got }: History): Problem[] {
  return [...attempts].flatMap(([key, of]) =>
    of.flatMap(({ to, answer }): Problem[] => {
      if (answer?.outcome.kind !== 'answered' || answer.outcome.status !== 200) return []
      const { messageId = 'no message', waMessageId } = answer.outcome
      const sent = upstream.get(messageId)
      const stored = got.get(messageId)
      const problems = [
        !sent?.accepted.some((accepted) => accepted.waMessageId === waMessageId) &&
          'answered with 200, but WhatsApp accepted no message with this ID',
        sent && (sent.key !== key || sent.to !== to) && 'answered with the message of another request',
        !stored && 'answered with 200, and message.get does not find it',
        stored && stored.waMessageId !== waMessageId && 'message.get has another waMessageId',
        stored && (stored.externalId !== key || stored.to !== to) && 'message.get has another recipient or reference',
        stored?.status === 'pending' && 'answered with 200, and pending in the end',
      ]
      return problems.filter((each) => typeof each === 'string').map((problem) => ({ id: messageId, problem }))
    }),
  )
}

function checkStates({ upstream, listed, got }: History): Problem[] {
  const received = [...upstream.values()].flatMap((message): Problem[] => {
    const { messageId, statuses } = message
    const stored = listed.get(messageId)
    if (!stored) return [{ id: messageId, problem: 'received by WhatsApp but missing from message.list' }]
    const problems = fewest(expectAnyOf(message).map((expected) => compareState(expected, stored)))
    if (statuses.some(({ acknowledged }) => !acknowledged)) problems.push('a status was never acknowledged')
    return problems.map((problem) => ({ id: messageId, problem }))
  })
  const unreceived = [...listed.values()]
    .filter(({ messageId, status }) => !upstream.has(messageId) && status !== 'failed' && status !== 'pending')
    .map(({ messageId, status }) => ({ id: messageId, problem: `is ${status}, and WhatsApp never received it` }))
  const different = [...got.values()]
    .filter((message) => !isDeepStrictEqual(message, listed.get(message.messageId)))
    .map(({ messageId }) => ({ id: messageId, problem: 'message.get and message.list differ' }))
  return [...received, ...unreceived, ...different]
}

/** If several outcomes are possible, one of them must match. */
function fewest(problems: string[][]): string[] {
  return problems.toSorted((a, b) => a.length - b.length)[0] ?? []
}

function compareState(expected: Expected, stored: Message): string[] {
  const problems: string[] = []
  const isKnown = stored.waMessageId !== undefined || expected.events.length > 0
  if (!expected.statuses.includes(stored.status))
    problems.push(`is ${stored.status} instead of ${expected.statuses.join(' or ')}`)
  if (isKnown && stored.waMessageId !== expected.waMessageId)
    problems.push(`has waMessageId ${stored.waMessageId} instead of ${expected.waMessageId}`)
  // Without a status, the send itself failed or WhatsApp rejected it immediately.
  const times = expected.events.length > 0 ? (['deliveredAt', 'readAt', 'failedAt'] as const) : []
  for (const name of times)
    if (stored[name] !== expected[name]) problems.push(`has ${name} ${stored[name]} instead of ${expected[name]}`)
  if (expected.events.length > 0 && stored.error?.code !== expected.errorCode)
    problems.push(`has error ${stored.error?.code} instead of ${expected.errorCode}`)
  return problems
}

function checkEvents({ upstream, listed, events }: History): Problem[] {
  // An event about an unknown outcome reports no status.
  const reports = events.filter(({ event }) => 'waMessageId' in event.data)
  const byMessage = Map.groupBy(reports, ({ event }) => event.data.messageId)
  const sequences = [...upstream.values()].flatMap((message): Problem[] => {
    const actual = (byMessage.get(message.messageId) ?? []).map(({ event }) => event.data.status)
    const problems = fewest(expectAnyOf(message).map((expected) => compareEvents(expected, actual)))
    return problems.map((problem) => ({ id: message.messageId, problem }))
  })
  const payloads = reports.flatMap((each) =>
    compareEvent(each, upstream.get(each.event.data.messageId), listed.get(each.event.data.messageId)),
  )
  return [...sequences, ...payloads]
}

function compareEvents({ events, mayEmitSent }: Expected, actual: readonly string[]): string[] {
  const compared = mayEmitSent && actual[0] === 'sent' ? actual.slice(1) : actual
  return compared.join() === events.join()
    ? []
    : [`has events ${actual.join() || 'none'} instead of ${events.join() || 'none'}`]
}

function compareEvent(
  { eventId, event: { type, timestamp, data } }: ListedEvent,
  sent: UpstreamMessage | undefined,
  stored: Message | undefined,
): Problem[] {
  if (!sent || sent.accepted.length === 0)
    return [{ id: eventId, problem: 'an event of a message that WhatsApp never accepted' }]
  const errorCode = 'error' in data ? data.error.code : undefined
  // A delivery that follows from a read is as old as the read.
  const reported = 'implied' in data && data.implied === true ? 'read' : data.status
  const report = sent.statuses.find(({ status }) => status === reported)
  const isOwnTime = data.status === 'sent'
  const facts: [name: string, actual: unknown, expected: unknown][] = [
    ['type', type, `message.${data.status}`],
    ['waMessageId', 'waMessageId' in data && data.waMessageId, sent.accepted[0]?.waMessageId],
    ['to', data.to, sent.to],
    ['externalId', data.externalId, sent.key],
    ['template', data.template, templateOf(data.to)],
    ['language', data.language, 'en'],
    ['accountId', data.accountId, stored?.accountId],
    ['error', errorCode, data.status === 'failed' ? String(failureCode) : undefined],
    ['timestamp', timestamp, isOwnTime || !report ? timestamp : new Date(report.timestamp * 1000).toISOString()],
  ]
  return facts
    .filter(([, actual, expected]) => actual !== expected)
    .map(([name, actual, expected]) => ({
      id: eventId,
      problem: `has ${name} ${String(actual)} instead of ${String(expected)}`,
    }))
}

function checkWebhooks({ events, webhooks }: History): Problem[] {
  const known = new Map(events.map(({ eventId, event }) => [eventId, event]))
  const missing = events
    .filter(({ eventId }) => !webhooks.has(eventId))
    .map(({ eventId }) => ({ id: eventId, problem: 'never arrived by webhook' }))
  const wrong = [...webhooks].flatMap(([eventId, attempts]) =>
    attempts.flatMap(({ verified, problem, event }): Problem[] => [
      ...(verified ? [] : [{ id: eventId, problem: `the signature does not verify: ${problem}` }]),
      ...(known.has(eventId) ? [] : [{ id: eventId, problem: 'arrived by webhook but is missing from event.list' }]),
      ...(known.has(eventId) && !isDeepStrictEqual(known.get(eventId), event)
        ? [{ id: eventId, problem: 'the webhook and event.list differ' }]
        : []),
    ]),
  )
  return [...missing, ...wrong]
}

/**
 * If a process is killed between the mark in its journal and the write that follows immediately, the outcome stays
 * unknown. More such kills would mean that the mark is written too early.
 */
const maxKilledInBetween = (kills: number) => Math.max(3, kills * 0.04)

function checkNeverDispatched(history: History): Problem[] {
  const inBetween = listKilledInBetween(history)
  const kills = history.nodes.filter(({ change }) => change === 'killed').length
  const early =
    inBetween.length > maxKilledInBetween(kills)
      ? [{ id: 'journal', problem: `marked ${inBetween.length} messages as written that WhatsApp never received` }]
      : []
  const unknown = new Set(inBetween.flatMap(({ messageId, externalId = '' }) => [messageId, externalId]))
  const stranded = [...history.listed.values()]
    .filter(({ messageId, status }) => status === 'pending' && !history.upstream.has(messageId))
    .filter(({ messageId }) => !unknown.has(messageId))
    .map(({ messageId }) => ({
      id: messageId,
      problem: 'still pending at the end, although WhatsApp never received it',
    }))
  const late = findNeverDispatched(history)
    .filter(({ key, milliseconds }) => milliseconds > maxReleaseMilliseconds && !unknown.has(key))
    .map(({ key, milliseconds, released }) => ({
      id: key,
      problem: `${released ? 'released' : 'not released'} ${(milliseconds / 1000).toFixed(1)} s after the next start`,
    }))
  return [...early, ...stranded, ...late]
}

function checkEventList({ events, followed }: History): Problem[] {
  const seen = new Map<string, number>()
  for (const id of followed) seen.set(id, (seen.get(id) ?? 0) + 1)
  const all = events.map(({ eventId }) => eventId)
  const known = new Set(all)
  return [
    ...all.filter((id) => !seen.has(id)).map((id) => ({ id, problem: 'was skipped by the event reader' })),
    ...[...seen].flatMap(([id, times]): Problem[] => [
      ...(times > 1 ? [{ id, problem: `was read ${times} times by the reader that follows` }] : []),
      ...(known.has(id) ? [] : [{ id, problem: 'was read by the event reader but is missing at the end' }]),
    ]),
    ...(known.size === all.length ? [] : [{ id: 'event.list', problem: 'lists an event twice' }]),
  ]
}

/** Any other response rejects a valid request. */
const expectedAnswers = new Set(['200', '409', '422', '429', '503', '504'])

function checkIdempotency({ attempts, upstream }: History): Problem[] {
  const sentBy = Map.groupBy(upstream.values(), ({ key }) => key)
  return [...attempts].flatMap(([key, of]) => {
    const messages = sentBy.get(key) ?? []
    return [...findContradictions(of, messages), ...findFalseClaims(of, messages)].map((problem) => ({
      id: key,
      problem,
    }))
  })
}

/** Responses in the order of arrival. Responses to concurrent requests may arrive in either order. */
function findContradictions(attempts: readonly Attempt[], messages: readonly UpstreamMessage[]): string[] {
  const answers = attempts.flatMap(({ at, answer }) =>
    answer?.outcome.kind === 'answered' ? [{ askedAt: at, at: answer.at, ...answer.outcome }] : [],
  )
  const sent = answers.filter(({ status }) => status === 200)
  const rejected = answers.filter(({ code }) => code === 'MESSAGE_REJECTED')
  const problems: string[] = []
  if (new Set(sent.map(({ messageId, waMessageId }) => `${messageId} ${waMessageId}`)).size > 1)
    problems.push('was answered with several messages')
  // A send that returned 200 can fail later. A retry whose first outcome was not stored yet reports that failure.
  const hasFailed = messages.some(({ statuses }) => statuses.some(({ status }) => status === 'failed'))
  if (sent.length > 0 && rejected.length > 0 && !hasFailed) problems.push('was answered with 200 and with 422')
  return problems
}

function findFalseClaims(attempts: readonly Attempt[], messages: readonly UpstreamMessage[]): string[] {
  const problems: string[] = []
  const hasFailed = messages.some(
    ({ refused, statuses }) => refused.length > 0 || statuses.some(({ status }) => status === 'failed'),
  )
  for (const { at, number, answer } of attempts) {
    if (answer?.outcome.kind !== 'answered') continue
    const { status, code = '' } = answer.outcome
    if (!expectedAnswers.has(String(status)) || code === 'IDEMPOTENCY_KEY_REUSED')
      problems.push(`was answered with ${status} ${code}`)
    if (code === 'MESSAGE_REJECTED' && !hasFailed)
      problems.push('was rejected, although WhatsApp neither rejected nor failed it')
    // "Nothing was sent" certainly refers to this request only if no other request was made before it.
    const isAlone = number === 1 && !attempts.some((other) => other.number !== 1 && other.at <= answer.at)
    const wasSent = messages.some(({ accepted }) => accepted.some((each) => each.at >= at && each.at <= answer.at))
    if (isAlone && wasSent && (status === 503 || status === 429))
      problems.push(`was answered with ${status} ${code}, "nothing was sent", and WhatsApp accepted it`)
  }
  return problems
}

/** Imports, uploads and template changes: what was acknowledged exists, and WhatsApp created each template once. */
function checkOtherWork({ work, refusedWork, foundWork, createdTemplates }: History): Problem[] {
  const times = Map.groupBy(createdTemplates, (name) => name)
  return [
    ...work.flatMap(({ work: kind, ids }) =>
      ids
        .filter((id) => !foundWork.has(id))
        .map((id) => ({ id, problem: `acknowledged by an ${kind}, and missing in the end` })),
    ),
    ...refusedWork.map(({ work: kind, status, problem }) => ({
      id: kind,
      problem: `refused with ${status}: ${problem}`,
    })),
    ...[...times]
      .filter(([, created]) => created.length > 1)
      .map(([name, created]) => ({ id: name, problem: `WhatsApp created the template ${created.length} times` })),
  ]
}

/** How long after a database outage a start may still fail because of it. */
const afterOutageMilliseconds = 5_000

function checkProcesses({ nodes, faults, callbacks, reads }: History): Problem[] {
  const outages = faults.filter(({ fault }) => fault === 'database')
  const isDuringOutage = (at: number) => {
    const before = outages.findLast((outage) => outage.at <= at)
    return before !== undefined && (before.phase === 'begin' || at - before.at < afterOutageMilliseconds)
  }
  return [
    ...nodes
      .filter(({ change, at }) => change === 'exited' || (change === 'failed to start' && !isDuringOutage(at)))
      .map(({ node, life, change, detail }) => ({ id: `node ${node}, life ${life}`, problem: `${change}: ${detail}` })),
    ...callbacks.map(({ status }) => ({ id: 'callback', problem: `was answered with ${status}` })),
    ...reads.map(({ path, status }) => ({ id: path, problem: `was answered with ${status}` })),
  ]
}
