import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { EventPage, ListedEvent } from '../../contracts/api/event.ts'
import type { Message } from '../../contracts/api/message.ts'
import { chooseRecipient, templateOf } from './scenarios.ts'
import type { LedgerWriter, Outcome } from './ledger.ts'
import { doOtherWork } from './other-work.ts'
import type { ChaosNode } from './node.ts'
import type { Random } from './random.ts'

/** Longer than a send but shorter than the longest pauses, so that callers give up and try another process. */
const attemptMilliseconds = 10_000
/** A higher limit would keep a slow machine busy with requests that have timed out. */
const maxRetriesAtOnce = 8

export interface LoadOptions {
  nodes: [ChaosNode, ...ChaosNode[]]
  apiKey: string
  ledger: LedgerWriter
  random: Random
  /** Each client sends its messages sequentially. */
  clients: number
  /** The longest pause of a client between two messages. */
  pauseMilliseconds: number
}

export interface Load {
  /** Stops new messages and keeps retrying those without a final response. */
  stopSending(): void
  /** Keys without a final response. */
  unanswered: ReadonlySet<string>
  /** IDs of the messages that were acknowledged with 200. */
  answered: ReadonlySet<string>
  /** What imports, uploads and template changes have acknowledged. */
  acknowledged: ReadonlySet<string>
  /** IDs of the events that the reader of `event.list` received. */
  followed: ReadonlySet<string>
  /** When the reader sent its last request that found no further events: it has read all events from before. */
  caughtUpAt(): number
  stop(): Promise<void>
}

const stoppedOutcome: Outcome = { kind: 'lost', reason: 'the campaign is over' }

/** Whether no retry can change this response. */
function isFinal(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && (outcome.status === 200 || outcome.code === 'MESSAGE_REJECTED')
}

export function startLoad({ nodes, apiKey, ledger, random, clients, pauseMilliseconds }: LoadOptions): Load {
  const agent = new Agent({ connections: 64 })
  const unanswered = new Set<string>()
  const work = new Set<Promise<void>>()
  const state: { phase: 'sending' | 'settling' | 'stopped' } = { phase: 'sending' }
  let keys = 0
  let retrying = 0
  const waiting: (() => void)[] = []
  const isStopped = () => state.phase === 'stopped'
  const answered = new Set<string>()
  const followed = new Set<string>()
  let caughtUpAt = -Infinity

  async function sendForever(): Promise<void> {
    while (state.phase === 'sending') {
      const number = keys++
      const message = { key: `K${String(number).padStart(7, '0')}`, to: chooseRecipient(random, number) }
      unanswered.add(message.key)
      // Two concurrent requests with one key, possibly through different processes.
      const isTwin = random.chance(0.05)
      const first = isTwin ? attempt(message, 2) : undefined
      const outcome = await attempt(message, 1)
      await first
      background(isFinal(outcome) ? repeatSometimes(message) : retry(message, isTwin ? 3 : 2))
      if (isFinal(outcome)) unanswered.delete(message.key)
      await delay(random.between(0, pauseMilliseconds))
    }
  }

  /** Retries with the same key until the response is final. */
  async function retry(message: { key: string; to: string }, from: number): Promise<void> {
    const since = Date.now()
    for (let number = from; !isStopped(); number++) {
      await delay(random.between(200, Date.now() - since < 15_000 ? 800 : 3_000))
      if (!isFinal(await inTurn(() => attempt(message, number)))) continue
      unanswered.delete(message.key)
      return
    }
  }

  async function inTurn(run: () => Promise<Outcome>): Promise<Outcome> {
    if (retrying >= maxRetriesAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    retrying++
    const outcome = await (isStopped() ? stoppedOutcome : run())
    retrying--
    waiting.shift()?.()
    return outcome
  }

  /** Simulates a caller that lost the response: repeats the request some time after its final response. */
  async function repeatSometimes(message: { key: string; to: string }): Promise<void> {
    if (!random.chance(0.1)) return
    await delay(random.between(0, 8_000))
    if (!isStopped()) await attempt(message, 1_000)
  }

  async function attempt({ key, to }: { key: string; to: string }, number: number): Promise<Outcome> {
    const node = await pickNode()
    const about = { key, number, node: nodes.indexOf(node), life: node.life }
    ledger.write({ kind: 'attempt', ...about, to })
    const outcome = await send(node, key, to)
    ledger.write({ kind: 'answer', ...about, outcome })
    if (outcome.kind === 'answered' && outcome.messageId !== undefined) answered.add(outcome.messageId)
    return outcome
  }

  async function send(node: ChaosNode, key: string, to: string): Promise<Outcome> {
    try {
      const { statusCode, body } = await request(`${node.url}/api/v1/message/send`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({
          to,
          template: templateOf(to),
          language: 'en',
          variables: { '1': 'Ada', '2': key },
          externalId: key,
        }),
        dispatcher: agent,
        signal: AbortSignal.timeout(attemptMilliseconds),
      })
      const answer = (await body.json()) as {
        data?: { messageId: string; waMessageId: string }
        error?: { code: string }
      }
      return {
        kind: 'answered',
        status: statusCode,
        ...(answer.error && { code: answer.error.code }),
        ...(answer.data && { messageId: answer.data.messageId, waMessageId: answer.data.waMessageId }),
      }
    } catch (error) {
      return { kind: 'lost', reason: describeLoss(error) }
    }
  }

  /** Like a load balancer, picks a process that serves or seems to; callers wait while there is none. */
  async function pickNode(): Promise<ChaosNode> {
    for (;;) {
      const [first, ...others] = nodes.filter(({ state }) => state === 'up' || state === 'paused')
      if (first) return random.pick([first, ...others])
      if (isStopped()) return nodes[0]
      await delay(20)
    }
  }

  /** Pages through all events by cursor, like a caller without an endpoint. */
  async function follow(): Promise<void> {
    let last: string | undefined
    while (!isStopped()) {
      const askedAt = Date.now()
      const { data: page } = await read<EventPage>(
        { url: (await pickNode()).url, apiKey, ledger, agent },
        `/api/v1/event?limit=100${last === undefined ? '' : `&cursor=${last}`}`,
      )
      for (const { eventId } of page?.items ?? []) {
        ledger.write({ kind: 'followed', eventId })
        followed.add(eventId)
        last = eventId
      }
      if (page?.nextCursor !== undefined) continue
      if (page) caughtUpAt = askedAt
      await delay(300)
    }
  }

  function background(promise: Promise<void>): void {
    work.add(promise)
    void promise.finally(() => work.delete(promise))
  }

  const acknowledged = new Set<string>()
  for (let client = 0; client < clients; client++) background(sendForever())
  background(follow())
  background(
    doOtherWork({
      apiKey,
      ledger,
      random,
      dispatcher: agent,
      pickNode,
      isSettling: () => state.phase !== 'sending',
      isStopped,
      onAcknowledged: (ids) => ids.forEach((id) => acknowledged.add(id)),
    }),
  )
  return {
    stopSending: () => (state.phase = 'settling'),
    unanswered,
    answered,
    acknowledged,
    followed,
    caughtUpAt: () => caughtUpAt,
    stop: async () => {
      state.phase = 'stopped'
      await Promise.all(work)
      await agent.destroy()
    },
  }
}

function describeLoss(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

interface Reader {
  url: string
  apiKey: string
  ledger: LedgerWriter
  agent?: Agent
}

/** Statuses that a caller has to expect: reads that waited for a database outage use up the account's reading time. */
const maySayLater = new Set([429, 503])

/** Status 0 is a lost response; the reader tries again. */
async function read<Data>(
  { url, apiKey, ledger, agent }: Reader,
  path: string,
): Promise<{ status: number; data?: Data }> {
  try {
    const { statusCode, body } = await request(url + path, {
      headers: { 'x-api-key': apiKey },
      signal: AbortSignal.timeout(attemptMilliseconds),
      ...(agent && { dispatcher: agent }),
    })
    const answer = (await body.json()) as { data: Data }
    if (statusCode === 200) return { status: 200, data: answer.data }
    if (!maySayLater.has(statusCode)) ledger.write({ kind: 'read', path, status: statusCode })
    return { status: statusCode }
  } catch {
    return { status: 0 }
  }
}

async function readUntilSuccess<Data>(reader: Reader, path: string): Promise<Data> {
  for (let tries = 0; tries < 20; tries++) {
    const { status, data } = await read<Data>(reader, path)
    if (data) return data
    if (status >= 400 && status < 500 && !maySayLater.has(status)) break
    await delay(500)
  }
  throw new Error(`GET ${path} did not return 200, although no fault was active`)
}

/** Records all messages and events returned by the API, and each acknowledged message by its ID. */
export async function readEndState(
  reader: Reader,
  { answered, acknowledged }: Pick<Load, 'answered' | 'acknowledged'>,
): Promise<void> {
  const { ledger } = reader
  const found: string[] = []
  for await (const { to } of pages<{ to: string }>(reader, '/api/v1/suppression')) found.push(to)
  for await (const { name } of pages<{ name: string }>(reader, '/api/v1/template')) found.push(name)
  for (const id of acknowledged) {
    if (!id.startsWith('med_')) continue
    const media = await readUntilSuccess<{ mediaId: string }>(reader, `/api/v1/media/${id}`).catch(() => undefined)
    if (media) found.push(media.mediaId)
  }
  ledger.write({ kind: 'work found', ids: found })
  for await (const message of pages<Message>(reader, '/api/v1/message'))
    ledger.write({ kind: 'message', via: 'list', message })
  for await (const event of pages<ListedEvent>(reader, '/api/v1/event')) ledger.write({ kind: 'event', ...event })
  const remaining = answered.values()
  const readMessages = async () => {
    for (const messageId of remaining) {
      const message = await readUntilSuccess<Message>(reader, `/api/v1/message/${messageId}`).catch(() => undefined)
      // A message that is not found stays out of the ledger, which the check reports.
      if (message) ledger.write({ kind: 'message', via: 'get', message })
    }
  }
  // As many reads as an account may have at a time.
  await Promise.all([readMessages(), readMessages()])
}

async function* pages<Item>(reader: Reader, path: string): AsyncGenerator<Item> {
  let cursor: string | undefined
  do {
    const query = `?limit=100${cursor === undefined ? '' : `&cursor=${cursor}`}`
    const page = await readUntilSuccess<{ items: Item[]; nextCursor?: string }>(reader, path + query)
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
