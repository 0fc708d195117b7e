import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { verifyWebhook } from '../../../src/receiver/webhook.ts'
import { openTestDatabase } from '../../support/database.ts'
import { emitPastEvents } from '../../support/endpoints.ts'
import { forFile } from '../../support/lifetime.ts'
import { createEmbeddedInstallation, type Ended } from '../installation.ts'

let received: { headers: IncomingHttpHeaders; body: string }[] = []
let status = 204

const postgres = await forFile(openTestDatabase())
const environment = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  DATABASE_URL: postgres.url,
  WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
}
const waybill = await forFile(createEmbeddedInstallation(environment))
const receiver = await forFile(
  createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(status).end(status === 204 ? undefined : 'not today')
  }).listen(0, '127.0.0.1'),
)
await once(receiver, 'listening')
// The address of a server that listens on a port has this type.
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`

beforeEach(() => {
  received = []
  status = 204
})

afterEach(() => vi.restoreAllMocks())

async function createAccount(): Promise<string> {
  return (await waybill.json(['account', 'create', '--name', 'Shop'])).accountId
}

/** Fields that webhook commands print; each test names those it expects. */
interface PrintedWebhook {
  endpointId: string
  secret: string
  items: { deliveryId: string }[]
}

async function json(args: string[], options?: { stdin?: string; env?: NodeJS.ProcessEnv }): Promise<PrintedWebhook> {
  const printed: unknown = await waybill.json(args, options)
  return printed as PrintedWebhook
}

async function add(accountId: string, ...more: string[]): Promise<PrintedWebhook> {
  return json(['webhook', 'add', accountId, '--url', url, ...more])
}

test('adds, lists, disables, enables and removes an endpoint', async () => {
  const accountId = await createAccount()

  const added = await add(accountId, '--events', 'message.failed, message.read', '--description', 'Orders')
  expect(added).toEqual({
    endpointId: expect.stringMatching(/^ep_[0-9a-z]{26}$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  })
  const { endpointId } = added
  const endpoint = {
    endpointId,
    url,
    events: ['message.read', 'message.failed'],
    state: 'enabled',
    description: 'Orders',
    hasHeaders: false,
    waiting: 0,
    createdAt: expect.any(String),
  }
  expect(await json(['webhook', 'list', accountId])).toEqual({ items: [endpoint] })
  expect(await json(['webhook', 'disable', endpointId])).toEqual({
    ...endpoint,
    state: 'disabled',
    reason: 'disabled by an operator',
  })
  expect((await waybill.run(['webhook', 'list', accountId])).stdout).toMatch(/State +disabled: disabled by an operator/)
  expect(await json(['webhook', 'enable', endpointId])).toEqual(endpoint)
  expect(await json(['webhook', 'remove', endpointId])).toEqual({ endpointId, dropped: 0 })
  expect((await waybill.run(['webhook', 'list', accountId])).stdout).toMatch(/has no endpoints/)
})

test('sets, shows and removes the limits of an endpoint', async () => {
  const accountId = await createAccount()
  const { endpointId } = await add(accountId, '--max-per-second', '50')
  expect(await json(['webhook', 'update', endpointId, '--max-concurrent', '8'])).toMatchObject({
    maxPerSecond: 50,
    maxConcurrent: 8,
  })
  expect((await waybill.run(['webhook', 'list', accountId])).stdout).toMatch(/Limits +50 per second, 8 concurrent/)
  const removed = await json(['webhook', 'update', endpointId, '--max-per-second', 'none'])
  expect(removed).toMatchObject({ maxConcurrent: 8 })
  expect(removed).not.toHaveProperty('maxPerSecond')
})

test('updates an endpoint and clears its headers when the host changes', async () => {
  const { endpointId, secret } = await add(await createAccount(), '--header', 'X-Shop: ada')
  const elsewhere = url.replace('127.0.0.1', 'localhost')

  expect(await json(['webhook', 'update', endpointId, '--url', elsewhere, '--events', 'message.failed'])).toMatchObject(
    { endpointId, url: elsewhere, events: ['message.failed'], hasHeaders: false, headersCleared: true },
  )
  await json(['webhook', 'update', endpointId, '--header', '-'], { stdin: 'X-Shop: eve\n' })
  await json(['webhook', 'test', endpointId])
  const [{ headers, body } = { headers: {}, body: '' }] = received
  expect(headers).toMatchObject({ 'x-shop': 'eve', host: new URL(elsewhere).host })
  expect(verifyWebhook(body, headers, secret)).toMatchObject({ type: 'webhook.test' })

  const both = await waybill.run(['webhook', 'update', endpointId, '--no-headers', '--header', 'X-A: 1'])
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot be combined') })
})

test('prints the endpoint after an update, because new events replace the current ones', async () => {
  const { endpointId } = await add(await createAccount())

  const { stdout } = await waybill.run(['webhook', 'update', endpointId, '--events', 'message.replied'])

  expect(stdout).toMatch(/ is updated\.\n\n.*^Events +message\.replied$.*^To test the endpoint: /ms)
  expect(stdout).toContain(url)
})

test('delivers a verifiable test event with the headers of the endpoint', async () => {
  const { endpointId, secret } = await add(await createAccount(), '--header', 'X-Shop: ada', '--header', 'X-Two:2')

  const tested = await json(['webhook', 'test', endpointId])

  expect(tested).toMatchObject({
    endpointId,
    eventId: expect.stringMatching(/^evt_/),
    delivered: true,
    statusCode: 204,
  })
  expect(received).toMatchObject([{ headers: { 'x-shop': 'ada', 'x-two': '2' } }])
  const [{ headers, body } = { headers: {}, body: '' }] = received
  expect(verifyWebhook(body, headers, secret)).toMatchObject({ type: 'webhook.test', data: { endpointId } })
})

test('exits with 1 and prints the response if a test event is not delivered', async () => {
  const { endpointId } = await add(await createAccount())
  status = 503

  const shown = await waybill.run(['webhook', 'test', endpointId])
  expect(shown).toMatchObject({ exitCode: 1, stderr: '' })
  expect(shown.stdout).toMatch(/^Not delivered: HTTP 503, after \d+ ms\.\nResponse: "not today"\n$/)
  const { exitCode, stdout } = await waybill.run(['webhook', 'test', endpointId, '--json'])
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ delivered: false, statusCode: 503, responseStart: 'not today' })
})

test('prints a rotated secret once and keeps the old one for the requested overlap', async () => {
  const accountId = await createAccount()
  const { endpointId, secret } = await add(accountId)

  const rotated = await json(['webhook', 'rotate-secret', endpointId, '--overlap', '2h'])
  expect(rotated).toEqual({ secret: expect.stringMatching(/^whsec_/), previousSecretUntil: expect.any(String) })
  const listed = await waybill.run(['webhook', 'list', accountId])

  expect(listed.stdout).toMatch(/Old secret +also signs until /)
  await json(['webhook', 'test', endpointId])
  const [{ headers, body } = { headers: {}, body: '' }] = received
  for (const key of [secret, rotated.secret]) expect(verifyWebhook(body, headers, key).type).toBe('webhook.test')
  expect(await json(['webhook', 'rotate-secret', endpointId, '--overlap', '0s'])).toEqual({
    secret: expect.any(String),
  })
})

test('never prints stored secrets or headers', async () => {
  const accountId = await createAccount()
  const stdin = 'Authorization: Bearer hushhush\nX-Other: whisper\n'
  const { endpointId, secret } = await json(
    ['webhook', 'add', accountId, '--url', url, '--header', '-', '--header', 'X-Open: door', '--header', '-'],
    { stdin },
  )

  const outputs = [
    await waybill.run(['webhook', 'list', accountId]),
    await waybill.run(['webhook', 'list', accountId, '--json']),
    await waybill.run(['webhook', 'test', endpointId], { env: { LOG_LEVEL: 'debug' } }),
    await waybill.run(['webhook', 'deliveries', endpointId, '--json']),
    await waybill.run(['webhook', 'add', accountId, '--url', url, '--header', 'hushhush']),
    await waybill.run(['webhook', 'add', accountId, '--url', url, '--header', 'Host: hushhush']),
    await waybill.run(['webhook', 'add', accountId, '--url', 'ftp://whisper']),
  ]

  expect(outputs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 2, 1, 1])
  expect(JSON.stringify(outputs)).not.toMatch(/hushhush|whisper/)
  expect(JSON.stringify(outputs)).not.toContain(secret)
  expect(received).toMatchObject([
    { headers: { authorization: 'Bearer hushhush', 'x-other': 'whisper', 'x-open': 'door' } },
  ])
})

test('lists, retries and recovers deliveries with progress', async () => {
  const accountId = await createAccount()
  await emitPastEvents(postgres.db, accountId, 6000)
  const { endpointId } = await add(accountId)
  await waybill.json(['webhook', 'disable', endpointId])
  await emitPastEvents(postgres.db, accountId, 2)

  const page = await json(['webhook', 'deliveries', endpointId, '--limit', '1'])
  expect(page).toMatchObject({
    items: [{ state: 'waiting', type: 'message.delivered', messageId: 'msg_1', attempts: [] }],
    nextCursor: expect.stringMatching(/^evt_/),
  })
  const deliveryId = page.items[0]?.deliveryId ?? ''
  await sql`
    with gone as (delete from webhook_deliveries where id = ${deliveryId} returning *)
    insert into webhook_finished_deliveries
    select account_id, id, endpoint_id, event_id, 'failed', 1, created_at, now() from gone`.execute(postgres.db)
  await sql`
    insert into webhook_attempts
    select account_id, id, endpoint_id, event_id, 1, now(), 250, 500, 'HTTP 500', 'oops' || chr(10)
    from webhook_finished_deliveries where id = ${deliveryId}`.execute(postgres.db)

  const failed = await waybill.run(['webhook', 'deliveries', endpointId, '--state', 'failed'])
  expect(failed.stdout).toMatch(/^Delivery +dlv_\w+\nEvent +evt_\w+ \(message\.delivered of msg_1\)\nState +failed at /)
  expect(failed.stdout).toMatch(/\n {2}1 +\S+Z +250 ms +HTTP 500 +"oops\\n"\n/)
  const retried = await json(['webhook', 'retry', deliveryId])
  expect(retried).toMatchObject({ deliveryId, endpointId, endpointState: 'disabled' })

  // Retried once more, and failed with the same response.
  await sql`
    with gone as (delete from webhook_deliveries where id = ${deliveryId} returning *)
    insert into webhook_finished_deliveries
    select account_id, id, endpoint_id, event_id, 'failed', 1, created_at, now() from gone`.execute(postgres.db)
  const withError = (error: string) =>
    waybill.run(['webhook', 'recover', endpointId, '--since', '1h', '--error', error])
  expect(await withError('HTTP 503')).toMatchObject({
    exitCode: 0,
    stdout: `${endpointId} has no delivery that failed with this error.\n`,
  })
  expect((await withError('HTTP 500')).stdout).toBe(`Queued for ${endpointId}: 1 delivery.\n`)
  expect((await withError('HTTP 500')).stdout).toBe(`${endpointId} has no delivery that failed with this error.\n`)

  const recovered = await waybill.run(['webhook', 'recover', endpointId, '--since', '1h'])
  expect(recovered).toEqual({
    exitCode: 0,
    stdout: `Queued for ${endpointId}: 6000 deliveries.\n`,
    stderr: expect.stringMatching(/^\d+ deliveries queued so far …\n$/),
  })
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const again = await waybill.run(['webhook', 'recover', endpointId, '--since', since, '--json'])
  expect(again).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(again.stdout)).toEqual({ endpointId, recovered: 0 })
  expect(await json(['webhook', 'remove', endpointId])).toEqual({ endpointId, dropped: 6002 })
})

test('shows why an endpoint fails', async () => {
  const accountId = await createAccount()
  const { endpointId } = await add(accountId)
  await sql`
    update webhook_endpoints set failing_since = '2026-11-20 10:32:00Z' where id = ${endpointId}`.execute(postgres.db)
  await sql`
    insert into webhook_attempt_counts
    values (${accountId}, ${endpointId}, '2026-11-20 10:30:00Z', 401, 'HTTP 401', 3, 90, 40, '2026-11-20 10:32:00Z',
      '2026-11-20 10:37:00Z')`.execute(postgres.db)

  const { stdout } = await waybill.run(['webhook', 'list', accountId])

  expect(stdout).toMatch(/^Problem +Failing since 2026-11-20T10:32:00\.000Z: HTTP 401; check the signing secret\.$/m)
  expect(await json(['webhook', 'list', accountId])).toMatchObject({
    items: [{ failure: { statusCode: 401, error: 'HTTP 401', durationMilliseconds: 40, isMixed: false } }],
  })
})

/** The output and exit code of a command, without the time that a process takes to start. */
async function runCommand(words: string[]): Promise<Ended> {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  const error = vi.spyOn(console, 'error').mockReturnValue()
  const exitCode = await main(words, { ...environment, WAYBILL_DATA_DIR: waybill.dataDir, LOG_LEVEL: 'warn' })
  return { exitCode, stdout: log.mock.calls.join('\n'), stderr: error.mock.calls.join('\n') }
}

test.each([
  {
    args: ['add', 'acc_1', '--url', 'https://example.com', '--header', 'nonsense'],
    says: "the form 'X-Api-Key: value'",
  },
  { args: ['update', 'EP', '--max-per-second', 'fast'], says: '--max-per-second must be a number, or none' },
  { args: ['rotate-secret', 'EP', '--overlap', 'tomorrow'], says: '--overlap must be a duration such as' },
  { args: ['recover', 'EP', '--since', '1h', '--error', ''], says: '--error ' },
  { args: ['recover', 'EP', '--since', '2026-11-20T09:30:00'], says: '--since must be a duration such as' },
])('rejects webhook $args: $says', async ({ args, says }) => {
  const { endpointId } = await add(await createAccount())

  const ended = await runCommand(['webhook', ...args.map((word) => (word === 'EP' ? endpointId : word)), '--json'])

  expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(says) })
})

test.each([
  { args: ['list', 'acc_none'], says: 'There is no account "acc_none"' },
  ...['enable', 'test', 'deliveries'].map((action) => ({
    args: [action, 'ep_none'],
    says: 'Endpoint "ep_none" was not found',
  })),
  { args: ['recover', 'ep_none', '--since', '1h'], says: 'Endpoint "ep_none" was not found' },
  { args: ['retry', 'dlv_none'], says: 'Delivery "dlv_none" was not found' },
])('reports a missing resource for webhook $args', async ({ args, says }) => {
  const ended = await runCommand(['webhook', ...args])

  expect(ended).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(says) })
})

test('rejects a private address without WEBHOOK_ALLOW_PRIVATE', async () => {
  const args = ['webhook', 'add', await createAccount(), '--url', url]

  expect(await waybill.run(args, { env: { WEBHOOK_ALLOW_PRIVATE: '' } })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('must be an https URL with a public host'),
  })
})
