import { connect } from 'node:net'
import { sql } from 'kysely'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { run, withDatabase } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { openApp } from './customer.ts'
import { openScene } from './scene.ts'

const example = sendMessage.example.input
const answersAfterThreeSeconds = '15559000001'

const { postgres, simulator, environment, app, apiKey, accountId } = await openScene()

const metricsToken = 'metrics-token'

async function readMetrics({ url }: ServeProcess): Promise<string> {
  const { body } = await request(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  return body.text()
}

function upstreamSends(to: string): number {
  return simulator.requests.filter(({ body }) => JSON.stringify(body).includes(`+${to}`)).length
}

function findByExternalId(externalId: string) {
  return app.deps.db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
}

test('migrates an empty database once when two processes start together', async () => {
  await run(postgres.url, 'create database fresh')
  const fresh = { ...environment, DATABASE_URL: withDatabase(postgres.url, 'fresh') }

  const nodes = await Promise.all([startServe(fresh), startServe(fresh), startServe(fresh)])

  for (const node of nodes) expect((await node.get('/readyz')).statusCode).toBe(200)
  const { deps, close } = openApp(fresh)
  const { rows } = await sql<{ name: string }>`select name from waybill_migrations`.execute(deps.db)
  expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length)
  await close()
  for (const node of nodes) {
    node.kill('SIGTERM')
    expect(await node.exited).toEqual({ code: 0, signal: null })
  }
})

test('rejects sends while the database is unavailable and accepts them again afterwards', async () => {
  const node = await startServe({ ...environment, METRICS_TOKEN: metricsToken })
  expect((await node.send(apiKey, example)).statusCode).toBe(200)
  expect(await readMetrics(node)).toMatch(/^waybill_database_reachable 1$/m)

  await postgres.pause()
  const unavailable = await node.send(apiKey, example)
  expect(unavailable.statusCode).toBe(503)
  expect(unavailable.body.error?.code).toBe('SERVICE_UNAVAILABLE')
  expect((await node.get('/readyz')).statusCode).toBe(503)
  expect((await node.get('/healthz')).statusCode).toBe(200)
  expect(await readMetrics(node)).toMatch(/^waybill_database_reachable 0$/m)

  await postgres.resume()
  await expect.poll(async () => (await node.get('/readyz')).statusCode).toBe(200)
  expect((await node.send(apiKey, example)).statusCode).toBe(200)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('acknowledges a send accepted during a database outage and stores its outcome afterwards', async () => {
  const node = await startServe(environment)
  const response = node.send(apiKey, { ...example, to: answersAfterThreeSeconds, externalId: 'settled-later' })
  await expect.poll(() => upstreamSends(answersAfterThreeSeconds)).toBe(1)

  await postgres.pause()
  const { statusCode, body } = await response
  expect(statusCode).toBe(200)

  await postgres.resume()
  await expect
    .poll(() => findByExternalId('settled-later').catch(() => undefined))
    .toMatchObject({ id: body.data?.messageId, status: 'sent', wa_message_id: body.data?.waMessageId })
  node.kill('SIGTERM')
  await node.exited
})

test('keeps a message pending if its process is killed during the send', async () => {
  const to = '15559000003'
  const request = { ...example, to, externalId: 'killed' }
  const headers = { 'idempotency-key': 'killed-1' }
  const victim = await startServe(environment)
  const lost = victim.send(apiKey, request, headers).then(
    () => 'answered',
    () => 'lost',
  )
  await expect.poll(() => upstreamSends(to)).toBe(1)

  victim.kill('SIGKILL')
  expect(await lost).toBe('lost')
  expect(await findByExternalId('killed')).toMatchObject({ status: 'pending', wa_message_id: null })

  const successor = await startServe(environment)
  expect((await successor.send(apiKey, request, headers)).body.error?.code).toBe('IDEMPOTENCY_KEY_IN_USE')
  await sql`update idempotency_keys set created_at = now() - interval '5 minutes' where key = 'killed-1'`.execute(
    app.deps.db,
  )
  expect((await successor.send(apiKey, request, headers)).body.error?.code).toBe('SEND_OUTCOME_UNKNOWN')
  expect(upstreamSends(to)).toBe(1)
  successor.kill('SIGTERM')
  await successor.exited
})

test('fails readiness on SIGTERM, completes requests in progress and exits cleanly', async () => {
  const node = await startServe(environment)
  const before = upstreamSends(answersAfterThreeSeconds)
  const inFlight = node.send(apiKey, { ...example, to: answersAfterThreeSeconds })
  await expect.poll(() => upstreamSends(answersAfterThreeSeconds)).toBe(before + 1)

  node.kill('SIGTERM')
  await expect.poll(async () => (await node.get('/readyz')).statusCode, { interval: 5 }).toBe(503)

  expect((await inFlight).statusCode).toBe(200)
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('aborts a slow body after ten seconds without affecting other requests', async () => {
  const node = await startServe(environment)
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1')
  let response = ''
  socket.on('data', (chunk) => (response += String(chunk))).on('error', () => {})
  socket.write(
    `POST /api/v1/message/send HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
  )
  const drip = setInterval(() => socket.writable && socket.write(' '), 500)
  const closed = new Promise((resolve) => socket.once('close', resolve))

  expect((await node.send(apiKey, example)).statusCode).toBe(200)
  await closed
  clearInterval(drip)
  expect(response).toMatch(/^HTTP\/1\.1 503 /)
  expect(response).toContain('SERVICE_UNAVAILABLE')
  node.kill('SIGTERM')
  await node.exited
})
