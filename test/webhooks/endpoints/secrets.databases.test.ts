import { afterAll, beforeEach, expect, test } from 'vitest'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { verifyWebhook } from '../../../src/receiver/webhook.ts'
import { addEndpoint, disableEndpoint, type NewEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { listEndpoints } from '../../../src/webhooks/endpoints/endpoint.ts'
import { revealSecret, rotateSecret } from '../../../src/webhooks/endpoints/secrets.ts'
import { testEndpoint } from '../../../src/webhooks/endpoints/send-test-event.ts'
import { openTestDatabase } from '../../support/database.ts'
import { createEndpointDeps } from '../../support/endpoints.ts'
import { forFile } from '../../support/lifetime.ts'
import { unreadable } from '../../support/unreadable.ts'
import { accept, respond, startWebhookReceiver } from '../../support/webhook-receiver.ts'

const database = await forFile(openTestDatabase())
const deps = createEndpointDeps(database)
const receiver = await forFile(startWebhookReceiver())
const { received, url: receiverUrl } = receiver
let accountId: string

beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'Endpoints' })).accountId
  received.length = 0
  receiver.behave(accept)
})

afterAll(() => deps.webhooks.close())

async function add(input: Partial<NewEndpoint> = {}): Promise<string> {
  return (await addEndpoint(deps, accountId, { url: receiverUrl, ...input })).endpointId
}

test('signs with the new and the previous secret during an overlap', async () => {
  const { endpointId, secret: first } = await addEndpoint(deps, accountId, { url: receiverUrl })
  const { secret: second, previousSecretUntil } = await rotateSecret(deps, accountId, endpointId)

  expect(Date.parse(previousSecretUntil ?? '') - deps.now().getTime()).toBeGreaterThan(23 * 3_600_000)
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ previousSecretUntil }])
  expect(await verifies(endpointId, [first, second])).toEqual([true, true])

  const { secret: third } = await rotateSecret(deps, accountId, endpointId)
  expect(await verifies(endpointId, [first, second, third])).toEqual([false, true, true])

  expect((await listEndpoints({ ...deps, now: tomorrow }, accountId))[0]).not.toHaveProperty('previousSecretUntil')

  const { secret: last } = await rotateSecret(deps, accountId, endpointId, { overlapSeconds: 0 })
  expect(await verifies(endpointId, [third, last])).toEqual([false, true])
})

function tomorrow(): Date {
  return new Date(Date.now() + 25 * 3_600_000)
}

/** Whether each secret verifies the next webhook to the endpoint. */
async function verifies(endpointId: string, secrets: string[]): Promise<boolean[]> {
  await testEndpoint({ ...deps, now: () => new Date() }, accountId, endpointId)
  const last = received.at(-1)
  return secrets.map((secret) => {
    try {
      verifyWebhook(last?.body ?? '', last?.headers ?? {}, secret)
      return true
    } catch {
      return false
    }
  })
}

/** Makes the secret or the headers of an endpoint unreadable, as the loss of their key does. */
async function loseKey(endpointId: string, of: 'secret' | 'headers' = 'secret'): Promise<void> {
  const change = { [`${of}_encrypted`]: unreadable }
  await deps.db.updateTable('webhook_endpoints').set(change).where('id', '=', endpointId).execute()
}

test('replaces a secret that cannot be decrypted without an overlap', async () => {
  const endpointId = await add()
  await loseKey(endpointId)

  const { secret, previousSecretUntil } = await rotateSecret(deps, accountId, endpointId)

  expect(previousSecretUntil).toBeUndefined()
  expect(await verifies(endpointId, [secret])).toEqual([true])
})

test('says that a secret cannot be decrypted instead of sending a test event or showing it', async () => {
  const endpointId = await add()
  await loseKey(endpointId)

  expect(await testEndpoint(deps, accountId, endpointId)).toMatchObject({
    delivered: false,
    error: 'the signing secret of the endpoint cannot be decrypted',
  })
  expect(received).toEqual([])
  await expect(revealSecret(deps, accountId, endpointId)).rejects.toMatchObject({
    code: 'SETTING_REFUSED',
    message: expect.stringContaining('cannot be decrypted'),
  })
})

test('names the headers if only they cannot be decrypted, which a new secret does not repair', async () => {
  const endpointId = await add()
  await loseKey(endpointId, 'headers')

  expect(await testEndpoint(deps, accountId, endpointId)).toMatchObject({
    delivered: false,
    error: 'the headers of the endpoint cannot be decrypted: set them again',
  })
})

test('stops signing with an expired secret', async () => {
  const { endpointId, secret: first } = await addEndpoint(deps, accountId, { url: receiverUrl })
  const yesterday = { ...deps, now: () => new Date(Date.now() - 25 * 3_600_000) }
  const { secret: second } = await rotateSecret(yesterday, accountId, endpointId)

  expect(await verifies(endpointId, [first, second])).toEqual([false, true])
})

test.each([-1, Number.NaN, 31 * 24 * 3600])('rejects an overlap of %d seconds', async (overlapSeconds) => {
  await expect(rotateSecret(deps, accountId, await add(), { overlapSeconds })).rejects.toThrow('30 days')
})

test("sends one signed test event with the endpoint's headers and shows the response", async () => {
  const headers = [['X-Token', 'abc']] as const
  const { endpointId, secret } = await addEndpoint(deps, accountId, { url: receiverUrl, headers })
  receiver.behave(respond(202))
  await disableEndpoint(deps, accountId, endpointId, { reason: disabledReasons.byOperator() })

  const result = await testEndpoint({ ...deps, now: () => new Date() }, accountId, endpointId)

  expect(result).toEqual({
    endpointId,
    eventId: expect.stringMatching(/^evt_/),
    delivered: true,
    statusCode: 202,
    responseStart: 'answer 202',
    durationMilliseconds: expect.any(Number),
  })
  expect(received).toHaveLength(1)
  expect(received[0]?.headers).toMatchObject({ 'x-token': 'abc', 'webhook-id': result.eventId })
  expect(verifyWebhook(received[0]?.body ?? '', received[0]?.headers ?? {}, secret)).toMatchObject({
    type: 'webhook.test',
    data: { endpointId },
  })
})

test('reports a failed test without disabling the endpoint', async () => {
  const id = await add()
  receiver.behave(respond(410))

  expect(await testEndpoint(deps, accountId, id)).toMatchObject({
    delivered: false,
    statusCode: 410,
    error: 'HTTP 410',
    responseStart: 'answer 410',
  })
  const nowhere = await add({ url: 'http://127.0.0.1:9/' })
  expect(await testEndpoint(deps, accountId, nowhere)).toMatchObject({ delivered: false, error: 'connection refused' })
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ state: 'enabled' }, { state: 'enabled' }])
})
