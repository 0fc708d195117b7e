import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type { ServeProcess } from '../support/process.ts'
import { sendOnce, type Sent, startTraffic } from './traffic.ts'
import { currentRoot, listProblems, runCommand } from './previous-version.ts'
import { type Running, startRunning } from './running.ts'

interface Answer {
  success: boolean
  data: { items?: Record<string, unknown>[]; nextCursor?: string }
}

/** The answers of a version by request. */
type Answers = Readonly<Record<string, unknown>>

const maxPages = 4

/** Asks for everything that must not change: messages, both lists page by page, and repetitions of sends. */
async function readAnswers(server: ServeProcess, sent: readonly Sent[], until: string): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  for (const { messageId } of sent.slice(0, 40)) {
    const path = `/api/v1/message/${messageId}`
    answers[path] = await get(server, path)
  }
  for (const list of ['/api/v1/message', '/api/v1/event']) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const path = `${list}?limit=25&until=${until}${cursor === undefined ? '' : `&cursor=${cursor}`}`
      const answer = await get(server, path)
      answers[path] = answer
      cursor = answer.data.nextCursor
      if (cursor === undefined) break
    }
  }
  answers['/api/v1/suppression'] = await get(server, '/api/v1/suppression')
  const templates = await get(server, '/api/v1/template')
  answers['/api/v1/template'] = templates.data.items?.map(withoutChanges)
  for (const { key } of sent.slice(-20)) {
    const { statusCode, messageId } = await sendOnce(server, key)
    answers[`send again with ${key}`] = { statusCode, messageId }
  }
  return answers
}

/** Templates are synced again at each start, and their schema accepts a `recipient` instead of `to` from 0.2.0 on. */
function withoutChanges({ sendSchema, ...template }: Record<string, unknown>): object {
  const { required = [], ...shape } = shapeOf(sendSchema as SendSchema)
  return { ...template, syncedAt: '', sendSchema: { ...shape, required: required.filter((name) => name !== 'to') } }
}

/** The parts of a JSON schema of a send (templates/send-schema.ts) that are compared. */
interface SendSchema {
  type?: string
  required?: string[]
  properties?: Record<string, SendSchema>
  items?: SendSchema
}

/** What a sender has to fill; descriptions and patterns may change from version to version. */
function shapeOf({ type, required, properties, items }: SendSchema): SendSchema {
  return {
    ...(type && { type }),
    ...(required && { required }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, shapeOf(schema)])),
    }),
    ...(items && { items: shapeOf(items) }),
  }
}

async function get(server: ServeProcess, path: string): Promise<Answer> {
  const { statusCode, text } = await server.get(path, inject('installed').apiKey)
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`)
  return JSON.parse(text) as Answer
}

/** Servers on one machine expect callbacks at addresses of their own, and WhatsApp has only one. */
const expectedFinding = 'callback_elsewhere'

/** Codes of the findings about the WhatsApp accounts. */
async function readFindings(server: ServeProcess): Promise<string[]> {
  const { text } = await server.get('/api/v1/account/health', inject('installed').apiKey)
  const { data } = JSON.parse(text) as { data: { whatsAppAccounts: { findings: { code: string }[] }[] } }
  return data.whatsAppAccounts
    .flatMap(({ findings }) => findings.map(({ code }) => code))
    .filter((code) => code !== expectedFinding)
}

const sendsPerPhase = 150

let running: Running
let database: pg.Client
beforeEach(async () => {
  running = await startRunning()
  database = new pg.Client({ connectionString: running.databaseUrl })
  await database.connect()
})
afterEach(async () => {
  await database.end()
  await running[Symbol.asyncDispose]()
})

async function select<Row>(text: string): Promise<Row[]> {
  const { rows } = await database.query(text)
  return rows as Row[]
}

async function countUnread(): Promise<number> {
  const [row] = await select<{ count: number }>(
    `select count(*)::integer as count from messages where status <> 'read'`,
  )
  return row?.count ?? 0
}

/** WhatsApp accounts whose connection and traffic are to be checked. */
async function countUnchecked(): Promise<number> {
  const due = await select('select from whatsapp_account_health where least(next_check_at, next_traffic_at) <= now()')
  return due.length
}

test('keeps every answer and every message while a new version replaces the old one', async () => {
  const { old, acceptedByWhatsApp } = running
  const before = startTraffic('before', old)
  await expect.poll(() => before.sent.length).toBeGreaterThan(sendsPerPhase)
  await before.stop()
  await expect.poll(countUnread).toBe(0)
  const until = new Date().toISOString()
  const answers = await readAnswers(old, before.sent, until)
  expect(await readFindings(old)).toEqual([])
  const alerts = await select('select code from alerts')
  const problems = await listProblems(inject('installed').root, running.environment)

  const during = startTraffic('during', old)
  await expect.poll(() => during.sent.length).toBeGreaterThan(sendsPerPhase)
  await runCommand(currentRoot, running.environment, 'migrate')
  const current = await running.startNew()
  during.sendTo(old, current)
  await expect.poll(() => during.sent.length).toBeGreaterThan(2 * sendsPerPhase)
  running.reportTo(current)
  during.sendTo(current)
  old.kill('SIGTERM')
  expect(await old.exited).toEqual({ code: 0, signal: null })
  const switchedAt = during.sent.length
  await expect.poll(() => during.sent.length).toBeGreaterThan(switchedAt + sendsPerPhase)
  await during.stop()

  await database.query('update whatsapp_account_health set next_check_at = now(), next_traffic_at = now()')

  const sent = [...before.sent, ...during.sent]
  report(sent)
  expect(sent.filter(({ statusCode }) => statusCode !== 200)).toEqual([])
  expect(old.output.filter((line) => /deadlock|lock timeout|cached plan/.test(line))).toEqual([])
  expect(await select('select deadlocks from pg_stat_database where datname = current_database()')).toEqual([
    { deadlocks: '0' },
  ])
  // Each message exactly once.
  expect(Object.fromEntries(acceptedByWhatsApp)).toEqual(
    Object.fromEntries(sent.map(({ messageId }) => [messageId, 1])),
  )
  await expect.poll(countUnread).toBe(0)

  // A new version may add fields.
  const after = await readAnswers(current, before.sent, until)
  expect(after).toMatchObject(answers)
  expect(Object.keys(after)).toEqual(Object.keys(answers))
  await expect.poll(countUnchecked).toBe(0)
  expect(await readFindings(current)).toEqual([])
  expect(await select('select code from alerts')).toEqual(alerts)
  expect(await listProblems(currentRoot, running.environment)).toEqual(problems)

  running.letRecover()
  const waiting = await select<{ event_id: string }>('select event_id from webhook_deliveries')
  expect(waiting.length).toBeGreaterThan(0)
  await expect.poll(hurryDeliveries).toEqual([])
  await expectEachEventOnce()
})

/** Makes waiting deliveries due, except for those that a worker is changing, and returns all that are left. */
async function hurryDeliveries(): Promise<unknown[]> {
  await database.query(`
    with waiting as (select id from webhook_deliveries where not claimed for update skip locked)
    update webhook_deliveries d set due_at = now() from waiting where waiting.id = d.id`)
  return select('select from webhook_deliveries')
}

/** Each endpoint accepted each of its events once, signed with the secret from before the upgrade. */
async function expectEachEventOnce(): Promise<void> {
  const recorded = await select<{ id: string; type: string }>('select id, type from events order by id')
  for (const { path, events, secret } of inject('installed').endpoints) {
    const expected = recorded.filter(({ type }) => events.includes(type)).map(({ id }) => id)
    const received = running.receiver.at(path)
    for (const { body, headers } of received.slice(-20))
      new Webhook(secret).verify(body, headers as Record<string, string>)
    const accepted = received.filter((webhook) => running.accepted.has(webhook)).map(({ id }) => id)
    expect(accepted.toSorted()).toEqual(expected)
  }
}

/** Times differ between machines, so they are shown instead of compared. */
function report(sent: readonly Sent[]): void {
  const times = sent.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)
  console.log(`${sent.length} sends, median ${times[times.length >> 1]} ms, longest ${times.at(-1)} ms`)
}
