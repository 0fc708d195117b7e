import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { rekey } from '../../../src/accounts/rekey.ts'
import { listStoredSecrets } from '../../../src/cli/stored-secrets.ts'
import { checkCode } from '../../../src/messages/codes/check-code.ts'
import { generateCode } from '../../../src/messages/codes/code.ts'
import { deleteOldCodes } from '../../../src/messages/codes/store.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { report, status } from '../../support/callbacks.ts'
import { erase } from '../../support/erase.ts'
import { eventually } from '../../support/eventually.ts'
import { findTablesWith } from '../../support/find-text.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { lockWaits } from '../../support/lock-waits.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestResponse, through } from '../../support/server.ts'

const base = { to: '34600111222', template: 'login_code', language: 'en' }

const server = await forFile(startTestServer())
const impatient = await forFile(startTestServer({ beside: server, sendDeadlineMilliseconds: 300 }))
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

const send = (change: object = {}) => account.post('/api/v1/code/send', { ...base, ...change })
/** Sends a code to a recipient for whom WhatsApp never responds. */
const sendUnanswered = (change: object = {}) =>
  through(impatient, account).post('/api/v1/code/send', { ...base, to: '15559000003', ...change })
const check = (code: string, change: object = {}) =>
  account.post('/api/v1/code/check', { to: base.to, code, ...change })

function outcomeOf({ statusCode, text }: TestResponse): [number, string | undefined] {
  return [statusCode, (JSON.parse(text) as { error?: { code: string } }).error?.code]
}

/** The last code that WhatsApp received, since it cannot be read anywhere else. */
function readSentCode(to: string = base.to): string {
  const sent = server.simulator.requests.findLast(({ body }) => JSON.stringify(body).includes(to))
  return /"text":"([^"]+)"/.exec(JSON.stringify(sent?.body))?.[1] ?? ''
}

/** Moves every code and attempt that counts towards the limits into the past. */
async function letPass(seconds: number): Promise<void> {
  await sql`update one_time_code_limits set last_at = last_at - ${seconds} * interval '1 second',
    window_started_at = window_started_at - ${seconds} * interval '1 second'
    where account_id = ${account.accountId}`.execute(server.deps.db)
  await sql`update one_time_codes set created_at = created_at - ${seconds} * interval '1 second'
    where account_id = ${account.accountId}`.execute(server.deps.db)
}

const countSends = () => server.simulator.requests.filter(({ path }) => path.endsWith('/messages')).length

/** Makes WhatsApp fail all sends until the interceptor is removed. */
const failSends = () =>
  server.simulator.intercept(({ path }) =>
    path.endsWith('/messages')
      ? { kind: 'json', status: 500, body: { error: { code: 2, message: 'down' } } }
      : undefined,
  )

const wrongOf = (code: string) => (code.startsWith('0') ? '1' : '0') + code.slice(1)

test('sends a generated code that is accepted once', async () => {
  const sent = await send({ externalId: 'login-9' })

  expect(sent.statusCode).toBe(200)
  expect(sent.json().data).toEqual({
    messageId: expect.stringMatching(/^msg_/),
    waMessageId: expect.stringMatching(/^wamid\./),
    status: 'sent',
    to: base.to,
    template: 'login_code',
    externalId: 'login-9',
    expiresAt: expect.any(String),
    resendAt: expect.any(String),
  })
  const code = readSentCode()
  expect(code).toMatch(/^\d{6}$/)
  expect((await check(code)).json()).toEqual({
    success: true,
    data: { verified: true, to: base.to, purpose: 'default' },
  })
  expect(outcomeOf(await check(code))).toEqual([404, 'CODE_NOT_FOUND'])
})

test('accepts a code, a length and a purpose over tRPC', async () => {
  await account.trpc.code.send.mutate({ ...base, code: 'K7-Q2X', purpose: 'sign-in' })
  expect(outcomeOf(await check('K7-Q2X'))).toEqual([404, 'CODE_NOT_FOUND'])
  await letPass(30)
  await account.trpc.code.send.mutate({ ...base, length: 8, purpose: 'payment' })
  const payment = readSentCode()
  expect(payment).toMatch(/^\d{8}$/)

  // Each purpose has its own code.
  expect(await account.trpc.code.check.mutate({ to: base.to, code: 'K7-Q2X', purpose: 'sign-in' })).toMatchObject({
    verified: true,
    purpose: 'sign-in',
  })
  expect((await check(payment, { purpose: 'payment' })).statusCode).toBe(200)
})

test('rejects even the right code after too many wrong guesses', async () => {
  await send({ code: '481516' })
  const responses = []
  for (let guess = 0; guess < 10; guess++) responses.push(outcomeOf(await check(`00000${guess}`)))
  responses.push(outcomeOf(await check('481516')))

  expect(responses).toEqual([
    ...Array.from({ length: 5 }, () => [422, 'CODE_INCORRECT']),
    ...Array.from({ length: 6 }, () => [422, 'CODE_ATTEMPTS_EXCEEDED']),
  ])
})

test('counts concurrent guesses one by one', async () => {
  await send({ code: '481516', maxAttempts: 3 })
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => check(String(100_000 + n))))
  const codes = guesses.map((guess) => outcomeOf(guess)[1])
  expect(codes.filter((code) => code === 'CODE_INCORRECT')).toHaveLength(3)
  expect(codes.filter((code) => code === 'CODE_ATTEMPTS_EXCEEDED')).toHaveLength(37)
  expect(guesses.find((guess) => guess.text.includes('0 attempts left'))).toBeDefined()
})

test('accepts exactly one of fifty concurrent checks of the right code, on two nodes', async () => {
  const node = await nodeForTest(server)
  await send({ code: '481516', maxAttempts: 10 })
  const body = JSON.stringify({ to: base.to, code: '481516' })
  const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' }
  const checks = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 === 0 ? server : node).request('POST', '/api/v1/code/check', { headers, body }),
    ),
  )
  expect(checks.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  const refused = checks.flatMap((one) => (one.statusCode === 200 ? [] : [outcomeOf(one)[1]]))
  expect(refused.every((code) => code === 'CODE_NOT_FOUND' || code === 'CODE_ATTEMPTS_EXCEEDED')).toBe(true)
})

test('rejects an expired code', async () => {
  await send({ code: '481516', expiresInSeconds: 60 })
  await sql`update one_time_codes set expires_at = now() where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )
  expect(outcomeOf(await check('481516'))).toEqual([422, 'CODE_EXPIRED'])
  await sql`update one_time_codes set expires_at = now() - interval '2 hours'`.execute(server.deps.db)
  await deleteOldCodes(server.deps.db, new Date())
  expect(outcomeOf(await check('481516'))).toEqual([404, 'CODE_NOT_FOUND'])
})

test('accepts only the latest code, and the one before if the latest was not sent', async () => {
  await send({ code: '111111' })
  await letPass(30)
  failSends()
  expect(outcomeOf(await send({ code: '222222' }))).toEqual([503, 'WHATSAPP_UNAVAILABLE'])
  server.simulator.intercept(undefined)
  expect(outcomeOf(await check('222222'))).toEqual([422, 'CODE_INCORRECT'])

  // A code that was not sent does not count towards the limits.
  expect((await send({ code: '333333' })).statusCode).toBe(200)
  expect(outcomeOf(await check('111111'))).toEqual([422, 'CODE_INCORRECT'])
  expect((await check('333333')).statusCode).toBe(200)
  expect(outcomeOf(await check('111111'))).toEqual([404, 'CODE_NOT_FOUND'])
})

test('keeps a code whose send has an unknown outcome, since it may have arrived', async () => {
  const to = '15559000003'
  expect(outcomeOf(await sendUnanswered({ code: '481516' }))).toEqual([504, 'SEND_OUTCOME_UNKNOWN'])
  expect((await check('481516', { to })).statusCode).toBe(200)
})

test('limits how often a recipient gets codes for all purposes and spellings of the number together', async () => {
  expect((await send()).statusCode).toBe(200)
  const tooSoon = await send({ purpose: 'other' })
  expect(outcomeOf(tooSoon)).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(Number(tooSoon.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(tooSoon.headers['retry-after'])).toBeLessThanOrEqual(30)
  for (let n = 0; n < 4; n++) {
    await letPass(30)
    expect((await send()).statusCode).toBe(200)
  }
  await letPass(30)
  const flooded = await send()
  expect(outcomeOf(flooded)).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(Number(flooded.headers['retry-after'])).toBeGreaterThan(3_000)
  expect((await send({ to: '34600111333' })).statusCode).toBe(200)

  await letPass(3_600)
  expect((await send()).statusCode).toBe(200)
})

/** WhatsApp reports that these are two spellings of one number. */
async function reportSpelling(sent: TestResponse, recipientId: string): Promise<void> {
  const { waMessageId } = sent.json().data as { waMessageId: string }
  await report(server, account, [status('delivered', waMessageId, { recipient: { recipient_id: recipientId } })])
}

test('counts the codes to all spellings that WhatsApp has reported for a number', async () => {
  const [to, other] = ['4901701234567', '491701234567']
  await reportSpelling(await send({ to }), other)

  const tooSoon = await send({ to: other })
  expect(outcomeOf(tooSoon)).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(Number(tooSoon.headers['retry-after'])).toBeLessThanOrEqual(30)
  for (const name of [other, to, other, to]) {
    await letPass(30)
    expect((await send({ to: name })).statusCode).toBe(200)
  }
  await letPass(30)
  for (const name of [to, other]) {
    const flooded = await send({ to: name })
    expect(outcomeOf(flooded)).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
    expect(Number(flooded.headers['retry-after'])).toBeGreaterThan(3_000)
  }
  expect((await send({ to: '34600111333' })).statusCode).toBe(200)

  await letPass(3_600)
  expect((await send({ to: other })).statusCode).toBe(200)
})

test('sends one code when requests for two spellings of a number arrive at once', async () => {
  const [to, other] = ['4901701234567', '491701234567']
  await reportSpelling(await send({ to }), other)
  await letPass(3_600)

  const { db } = server.deps
  const sends = await db.transaction().execute(async (trx) => {
    await sql`lock table one_time_codes in share mode`.execute(trx)
    const started = [send({ to }), send({ to: other })]
    await eventually(async () => expect(await lockWaits(db)).toHaveLength(2))
    return started
  })
  const outcomes = (await Promise.all(sends)).map(outcomeOf)
  expect(outcomes.sort(([a], [b]) => a - b)).toEqual([
    [200, undefined],
    [429, 'CODE_LIMIT_EXCEEDED'],
  ])
})

test('lets a recipient who used a code request another under another spelling', async () => {
  const [to, other] = ['4901701234567', '491701234567']
  await reportSpelling(await send({ to, code: '481516' }), other)
  for (const name of [other, to, other, to, other, to]) {
    expect((await check('481516', { to: name })).statusCode).toBe(200)
    await letPass(30)
    expect((await send({ to: name, code: '481516' })).statusCode).toBe(200)
  }
})

test('lets a recipient who used a code request another', async () => {
  for (let n = 0; n < 8; n++) {
    expect((await send({ code: '481516' })).statusCode).toBe(200)
    expect((await check('481516')).statusCode).toBe(200)
    await letPass(30)
  }
})

test('sends one code when a flood of requests arrives at once', async () => {
  const before = server.simulator.requests.length
  const flood = await Promise.all(Array.from({ length: 30 }, () => send()))
  const sent = flood.filter(({ statusCode }) => statusCode === 200)
  expect(new Set(sent.map((one) => one.json().data.messageId)).size).toBe(1)
  const waiting = flood.filter((one) => outcomeOf(one)[1] === 'CODE_LIMIT_EXCEEDED')
  expect(sent.length + waiting.length).toBe(30)
  expect(server.simulator.requests.length - before).toBe(1)
})

const sendWithKey = (key: string, change: object = {}) =>
  account.post('/api/v1/code/send', { ...base, ...change }, { 'idempotency-key': key })

test('sends one code for an Idempotency-Key and replays its response, also after the code was used', async () => {
  const before = countSends()
  const first = await sendWithKey('login-1', { code: '481516', externalId: 'login-9' })
  const second = await sendWithKey('login-1', { code: '481516', externalId: 'login-9', clientIp: '203.0.113.7' })
  await letPass(3_000)
  await check('481516')
  const late = await sendWithKey('login-1', { code: '481516', externalId: 'login-9' })

  expect(first.headers['idempotent-replayed']).toBeUndefined()
  expect([second, late].map(({ headers }) => headers['idempotent-replayed'])).toEqual(['true', 'true'])
  expect(second.json()).toEqual(first.json())
  expect(late.json().data).toMatchObject({ messageId: first.json().data.messageId, status: 'sent' })
  expect(countSends() - before).toBe(1)
})

test.each([{ to: '34600111333' }, { code: '2342' }, { purpose: 'other' }, { length: 8 }])(
  'rejects the Idempotency-Key of another code: %o',
  async (change) => {
    await sendWithKey('login-1')
    expect(outcomeOf(await sendWithKey('login-1', change))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  },
)

test('rejects the Idempotency-Key of a message', async () => {
  const message = { to: base.to, template: 'login_code', language: 'en', code: '481516' }
  await account.post('/api/v1/message/send', message, { 'idempotency-key': 'login-1' })
  expect(outcomeOf(await sendWithKey('login-1', { code: '481516' }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
})

test('replays a rejection, and sends again after a temporary failure', async () => {
  const to = '15550131026'
  expect(outcomeOf(await sendWithKey('login-1', { to }))).toEqual([422, 'MESSAGE_REJECTED'])
  expect(outcomeOf(await sendWithKey('login-1', { to }))).toEqual([422, 'MESSAGE_REJECTED'])

  failSends()
  expect(outcomeOf(await sendWithKey('login-2'))).toEqual([503, 'WHATSAPP_UNAVAILABLE'])
  server.simulator.intercept(undefined)
  expect((await sendWithKey('login-2')).statusCode).toBe(200)
})

test('sends one code when requests with the same Idempotency-Key arrive at once', async () => {
  const before = countSends()
  const flood = await Promise.all(Array.from({ length: 20 }, () => sendWithKey('login-1')))
  const outcomes = flood.map((one) => outcomeOf(one)[1])
  expect(outcomes.every((code) => code === undefined || code === 'IDEMPOTENCY_KEY_IN_USE')).toBe(true)
  expect(outcomes).toContain(undefined)
  expect(countSends() - before).toBe(1)
})

test('answers a retry without an Idempotency-Key with the code that is on its way', async () => {
  const before = countSends()
  const first = await send({ externalId: 'login-9' })
  const code = readSentCode()
  const retry = await send({ externalId: 'login-9', clientIp: '203.0.113.7' })

  expect(retry.json()).toEqual(first.json())
  expect(retry.headers['idempotent-replayed']).toBe('true')
  expect(retry.text).not.toContain(code)
  expect(countSends() - before).toBe(1)
  expect((await check(code)).statusCode).toBe(200)

  await letPass(30)
  expect((await send({ externalId: 'login-9' })).headers['idempotent-replayed']).toBeUndefined()
  expect(countSends() - before).toBe(2)
})

test('recognizes a retry that names its WhatsApp account', async () => {
  const change = { accountId: account.whatsAppAccountId }
  const first = await send(change)
  const retry = await send(change)
  expect(retry.headers['idempotent-replayed']).toBe('true')
  expect(retry.json()).toEqual(first.json())

  await letPass(30)
  const keyed = await sendWithKey('login-1', change)
  // The times are those of the code, not an estimate.
  await letPass(30)
  const { createdAt, expiresAt } = await server.deps.db
    .selectFrom('one_time_codes')
    .select(['created_at as createdAt', 'expires_at as expiresAt'])
    .where('message_id', '=', String(keyed.json().data['messageId']))
    .executeTakeFirstOrThrow()
  expect((await sendWithKey('login-1', change)).json().data).toEqual({
    ...keyed.json().data,
    expiresAt: expiresAt.toISOString(),
    resendAt: new Date(createdAt.getTime() + 30_000).toISOString(),
  })
})

test.each([
  { what: 'another code', change: { code: '222222' } },
  { what: 'another number of attempts', change: { code: '111111', maxAttempts: 1 } },
  { what: 'another reference', change: { code: '111111', externalId: 'login-9' } },
])('does not take a request with $what for a retry', async ({ change }) => {
  await send({ code: '111111' })
  expect(outcomeOf(await send(change))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
})

test('does not take a request with a new Idempotency-Key for a retry', async () => {
  await sendWithKey('login-1')
  expect(outcomeOf(await sendWithKey('login-2'))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(outcomeOf(await send())).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
})

test('lets a retry wait for WhatsApp while the outcome of the first request is unknown', async () => {
  expect(outcomeOf(await sendUnanswered())).toEqual([504, 'SEND_OUTCOME_UNKNOWN'])
  const retry = await sendUnanswered()
  expect(outcomeOf(retry)).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(retry.headers['retry-after']).toBe('2')
})

test('does not answer a retry with a code that can no longer be checked', async () => {
  await send({ code: '111111', maxAttempts: 1 })
  await check('222222')
  expect(outcomeOf(await send({ code: '111111', maxAttempts: 1 }))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
})

test('replays an Idempotency-Key over tRPC', async () => {
  const context = { idempotencyKey: 'login-1' }
  const first = await account.trpc.code.send.mutate(base, { context })
  expect(await account.trpc.code.send.mutate(base, { context })).toEqual(first)
})

const requestCode = (n: number, clientIp: string) => send({ to: `346001113${String(n).padStart(2, '0')}`, clientIp })

test('limits how many codes an IP address requests, and counts an IPv6 network as one address', async () => {
  for (let n = 0; n < 20; n++) expect((await requestCode(n, `2001:db8::${n + 1}`)).statusCode).toBe(200)

  expect(outcomeOf(await requestCode(20, '2001:db8::ffff'))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  // A rejected request does not count for the recipient either.
  expect((await requestCode(20, '2001:db8:1::1')).statusCode).toBe(200)
  expect(outcomeOf(await requestCode(21, 'localhost'))).toEqual([400, 'VALIDATION_ERROR'])
})

test('limits how many wrong codes an IP address tries for different recipients', async () => {
  const clientIp = '203.0.113.7'
  for (let n = 0; n < 30; n++)
    expect((await check('000000', { to: `346001114${n + 10}`, clientIp })).statusCode).toBe(404)
  await send({ code: '481516' })

  expect(outcomeOf(await check('481516', { clientIp }))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  // Another address is not affected, and correct codes do not count.
  expect((await check('481516', { clientIp: '203.0.113.8' })).statusCode).toBe(200)
})

test('counts rejected numbers, so that probing numbers is limited too', async () => {
  const to = '15550131026'
  expect(outcomeOf(await send({ to, clientIp: '203.0.113.9' }))).toEqual([422, 'MESSAGE_REJECTED'])
  expect(outcomeOf(await send({ to }))).toEqual([429, 'CODE_LIMIT_EXCEEDED'])
  expect(outcomeOf(await check('123456', { to }))).toEqual([404, 'CODE_NOT_FOUND'])
})

test.each([
  {
    change: { template: 'order_shipped' },
    problem: /^code: the template has no one-time code, because its category is not AUTHENTICATION; .* message\.send /,
  },
  { change: { template: 'unknown' }, problem: /unknown/ },
  { change: { code: '123' }, problem: /^code: must have at least 4 characters/ },
  { change: { length: 3 }, problem: /^length: must be at least 4/ },
  { change: { expiresInSeconds: 30 }, problem: /^expiresInSeconds: must be at least 60/ },
  { change: { maxAttempts: 100 }, problem: /^maxAttempts: must be at most 10/ },
  { change: { purpose: '' }, problem: /^purpose: must not be empty/ },
  { change: { clientIp: '203.0.113' }, problem: /^clientIp: must be an IP address/ },
  { change: { clientIp: '203.0.113.7%eth0' }, problem: /^clientIp: must be an IP address/ },
])('rejects a send with $change before anything counts', async ({ change, problem }) => {
  const refused = await send(change)
  expect(refused.json().error.message).toMatch(problem)
  expect(refused.statusCode).toBeLessThan(429)
  expect((await send()).statusCode).toBe(200)
})

test.each([
  { to: '5215512345678', other: '525512345678' },
  { to: '551187654321', other: '5511987654321' },
  { to: '2250544123456', other: '22544123456' },
])('checks a code for $to with the other spelling of the number', async ({ to, other }) => {
  await send({ to, code: '111111' })
  await letPass(30)
  await send({ to: other, code: '222222' })

  expect(outcomeOf(await check('111111', { to }))).toEqual([422, 'CODE_INCORRECT'])
  expect((await check('222222', { to })).json()).toMatchObject({ data: { verified: true, to } })
  expect(outcomeOf(await check('111111', { to: other }))).toEqual([404, 'CODE_NOT_FOUND'])
  await letPass(30)
  await send({ to, code: '333333', maxAttempts: 1 })
  expect(outcomeOf(await check('000000', { to: other }))).toEqual([422, 'CODE_INCORRECT'])
  expect(outcomeOf(await check('333333', { to: other }))).toEqual([422, 'CODE_ATTEMPTS_EXCEEDED'])
})

test('erases a code whose number is stored in another spelling', async () => {
  const to = '5215512345678'
  await send({ to })

  const { rows } = await erase(server, to, account.accountId)

  expect(rows).toMatchObject({ one_time_codes: 1 })
})

test('keeps the codes of accounts apart', async () => {
  await send({ code: '481516' })
  const other = await server.account()
  const response = await other.post('/api/v1/code/check', { to: base.to, code: '481516' })
  expect(outcomeOf(response)).toEqual([404, 'CODE_NOT_FOUND'])
  expect((await check('481516')).statusCode).toBe(200)
})

test('writes no code to a table, log or event', async () => {
  const code = 'Zq7Kp3Xw'
  await send({ code, clientIp: '203.0.113.77' })
  const found = [code, '203.0.113.77', base.to].map((text) => findTablesWith(server.deps.db, text))
  const [ofCode, ofAddress, ofNumber] = await Promise.all(found)
  await check(wrongOf(code))
  await check(code)

  expect([ofCode, ofAddress]).toEqual([[], []])
  expect(ofNumber).toContain('messages')
  expect(server.log.filter((line) => line.includes(code) || line.includes(wrongOf(code)))).toEqual([])
})

test('stores different hashes of equal codes', async () => {
  await send({ code: '481516' })
  await send({ code: '481516', to: '34600111333' })
  const rows = await server.deps.db
    .selectFrom('one_time_codes')
    .select('mac')
    .where('account_id', '=', account.accountId)
    .execute()
  expect(new Set(rows.map(({ mac }) => Buffer.from(mac).toString('hex'))).size).toBe(2)
})

test('accepts codes from before a key rotation while the old key is in the ring', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const node = await nodeForTest(server, { deps: { secrets: createSecretBox([oldKey], randomBytes) } })
  const own = await node.account()
  const sendTo = (to: string) => own.post('/api/v1/code/send', { ...base, to, code: '481516' })
  for (const to of ['34600111222', '34600111333']) expect((await sendTo(to)).statusCode).toBe(200)
  const during = { ...node.deps, secrets: createSecretBox([newKey, oldKey], randomBytes) }
  const ownSecrets = async (db: typeof during.db) =>
    (await listStoredSecrets(db)).filter(({ recordId }) => recordId === own.whatsAppAccountId)
  expect(await rekey(during, ownSecrets)).toEqual({ secrets: 1, rekeyed: 1 })
  const input = { code: '481516', purpose: 'default' }

  expect(await checkCode(during, own, { ...input, to: '34600111222' })).toMatchObject({ verified: true })
  const after = { ...node.deps, secrets: createSecretBox([newKey], randomBytes) }
  await expect(checkCode(after, own, { ...input, to: '34600111333' })).rejects.toThrow('incorrect code')
})

test('accepts a code even if its limits cannot be reset', async () => {
  const node = await forTest(startTestServer())
  const own = await node.account()
  await own.post('/api/v1/code/send', { ...base, code: '481516' })
  await sql`create function fail() returns trigger language plpgsql as
    $$ begin raise exception 'disk full' using errcode = '53100'; end $$`.execute(node.deps.db)
  await sql`create trigger fail before update on one_time_code_limits execute function fail()`.execute(node.deps.db)

  const checked = await own.post('/api/v1/code/check', { to: base.to, code: '481516' })

  expect(checked.json()).toMatchObject({ success: true, data: { verified: true } })
  expect(node.log.filter((line) => line.includes('could not reset the limits'))).toHaveLength(1)
})

test('generates every digit equally often', () => {
  const counts = Array.from({ length: 10 }, () => 0)
  for (const digit of generateCode(100_000, randomBytes)) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(600)
  expect(generateCode(4, (size) => Buffer.alloc(size, 249))).toBe('9999')
})
