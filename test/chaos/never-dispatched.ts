import type { Message } from '../../contracts/api/message.ts'
import type { Attempt, History } from './history.ts'
import type { EntryOf, NodeLife } from './ledger.ts'

/** The next start must release the key of such a message within this time, counted while a process and the database are up. */
export const maxReleaseMilliseconds = 10_000

/** A message that a process recorded but was killed before sending, so that its key was blocked unnecessarily. */
export interface NeverDispatched {
  key: string
  released: boolean
  /**
   * From the next start of the killed process to the release, or to the end of the round. Counts only while a process and
   * the database were up, since a start that is killed immediately releases nothing.
   */
  milliseconds: number
}

/** Messages whose process was killed after marking them as written but before WhatsApp received anything. */
export function listKilledInBetween({ listed, marked, upstream }: History): Message[] {
  return [...listed.values()].filter(
    ({ messageId, status }) => status === 'pending' && marked.has(messageId) && !upstream.has(messageId),
  )
}

/** No request runs longer than this after its client has given up. */
const longestSendMilliseconds = 25_000

/** Error codes that refer to an earlier request with the key. */
const blocked = new Set(['IDEMPOTENCY_KEY_IN_USE', 'SEND_OUTCOME_UNKNOWN'])

export function findNeverDispatched(history: History): NeverDispatched[] {
  const receivedAt = new Map<string, number>()
  for (const { key, receivedAt: times } of history.upstream.values())
    receivedAt.set(key, Math.min(receivedAt.get(key) ?? Infinity, ...times))
  return [...history.attempts].flatMap(([key, attempts]) => {
    const found = examine(history, attempts, receivedAt.get(key) ?? Infinity)
    return found ? [{ key, ...found }] : []
  })
}

/**
 * Finds a key that was reported as in use before WhatsApp received anything, although every process that could hold it
 * was killed.
 */
function examine(
  { nodes, faults, endsAt }: History,
  attempts: readonly Attempt[],
  receivedAt: number,
): Omit<NeverDispatched, 'key'> | undefined {
  const answered = attempts.flatMap(({ answer }) => (answer?.outcome.kind === 'answered' ? [answer] : []))
  const codes = answered.map(({ at, outcome }) => ({ at, code: 'code' in outcome ? (outcome.code ?? '') : '' }))
  const blocks = codes.filter(({ at, code }) => blocked.has(code) && at < receivedAt)
  const [block] = blocks.flatMap(({ at }) => {
    const kill = findLastKill(nodes, attempts, at)
    return kill ? [{ at, kill }] : []
  })
  if (!block) return undefined

  const releases = codes.filter(({ at, code }) => at > block.at && !blocked.has(code) && code !== 'SERVICE_UNAVAILABLE')
  const releasedAt = Math.min(receivedAt, ...releases.map(({ at }) => at))
  const released = releasedAt < Infinity
  const until = released ? releasedAt : endsAt
  return { released, milliseconds: countUp({ nodes, faults }, findNextStart(nodes, block.kill, until), until) }
}

/** The last kill of the processes that may hold the key at a time; undefined while one of them may still be working. */
function findLastKill(
  nodes: History['nodes'],
  attempts: readonly Attempt[],
  time: number,
): EntryOf<'node'> | undefined {
  const kills = attempts
    .filter(({ at, answer }) => at <= time && mayHold(answer, time))
    .map((attempt) => ({ attempt, kill: findKill(nodes, attempt) }))
    .filter(({ attempt, kill }) => kill || time - attempt.at < longestSendMilliseconds)
    .map(({ kill }) => kill)
  const isOver = kills.every((kill) => kill && kill.at <= time)
  return isOver ? kills.toSorted((a, b) => (a?.at ?? 0) - (b?.at ?? 0)).at(-1) : undefined
}

/** An attempt whose connection was refused did not reach a process. */
function mayHold(answer: Attempt['answer'], time: number): boolean {
  if (!answer || answer.at > time) return true
  return answer.outcome.kind === 'lost' && answer.outcome.reason !== 'ECONNREFUSED'
}

function findKill(nodes: History['nodes'], { node, life }: NodeLife): EntryOf<'node'> | undefined {
  return nodes.find((each) => each.node === node && each.life === life && each.change === 'killed')
}

/** Without a later start, another process released the key earlier. */
function findNextStart(nodes: History['nodes'], kill: EntryOf<'node'>, until: number): number {
  return (
    nodes.find(({ node, at, change }) => node === kill.node && change === 'ready' && at >= kill.at && at <= until)
      ?.at ?? until
  )
}

/** The milliseconds between two times during which at least one process was ready and the database had no fault. */
function countUp({ nodes, faults }: Pick<History, 'nodes' | 'faults'>, from: number, until: number): number {
  const outages = faults.filter(({ fault }) => fault === 'database')
  const changes = [...nodes, ...outages].toSorted((a, b) => a.at - b.at)
  const ready = new Set<number>()
  let [hasDatabase, since, sum] = [true, from, 0]
  for (const change of changes) {
    if (change.at > until) break
    if (ready.size > 0 && hasDatabase) sum += Math.max(0, change.at - since)
    since = Math.max(from, change.at)
    if (change.kind === 'fault') hasDatabase = change.phase === 'end'
    else if (change.change === 'ready' || change.change === 'resumed') ready.add(change.node)
    else ready.delete(change.node)
  }
  return sum + (ready.size > 0 && hasDatabase ? Math.max(0, until - since) : 0)
}
