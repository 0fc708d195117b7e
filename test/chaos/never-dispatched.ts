import type { Message } from '../../contracts/api/message.ts'
import type { Attempt, History } from './history.ts'
import type { EntryOf, NodeLife } from './ledger.ts'

/** The key of such a message is released by the next start, while there is a process and a database. */
export const maxReleaseMilliseconds = 10_000

/** A message that a process recorded and, killed in between, never sent: its key was blocked for nothing. */
export interface NeverDispatched {
  key: string
  released: boolean
  /**
   * From the next start of the process that was killed to the release, or to the end. Only the time in which a process
   * and the database were up counts: a start that is killed at once releases nothing.
   */
  milliseconds: number
}

/** Messages whose process was killed after it marked them as written and before WhatsApp received anything. */
export function listKilledInBetween({ listed, marked, upstream }: History): Message[] {
  return [...listed.values()].filter(
    ({ messageId, status }) => status === 'pending' && marked.has(messageId) && !upstream.has(messageId),
  )
}

/** After this a request that nobody waits for any more is over. */
const longestSendMilliseconds = 25_000

/** Codes of answers about an earlier request with the key. */
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

/** The key was answered as taken, WhatsApp had received nothing yet, and whoever had taken it was killed. */
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

/** Of those that may hold the key at a time: undefined while one of them may still be at work. */
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

/** Whose connection was refused has reached nobody. */
function mayHold(answer: Attempt['answer'], time: number): boolean {
  if (!answer || answer.at > time) return true
  return answer.outcome.kind === 'lost' && answer.outcome.reason !== 'ECONNREFUSED'
}

function findKill(nodes: History['nodes'], { node, life }: NodeLife): EntryOf<'node'> | undefined {
  return nodes.find((each) => each.node === node && each.life === life && each.change === 'killed')
}

/** Without one until then it was released earlier, by another process. */
function findNextStart(nodes: History['nodes'], kill: EntryOf<'node'>, until: number): number {
  return (
    nodes.find(({ node, at, change }) => node === kill.node && change === 'ready' && at >= kill.at && at <= until)
      ?.at ?? until
  )
}

/** The milliseconds between two times in which at least one process was ready and the database was undisturbed. */
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
