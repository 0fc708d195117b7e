import { TRPCClientError } from '@trpc/client'
import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import type { ErrorData, ErrorDetails } from '../../../contracts/errors.ts'
import { contracts } from '../../../contracts/index.ts'
import { type ApiProcedure, listProcedures } from '../../../contracts/procedure.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { safe } from '../../../src/client/client.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { jpeg, postForm, startFileServer } from '../../support/media-files.ts'
import { startTestServer, type TestResponse } from '../../support/server.ts'

/** REST and tRPC return the same data and the same error codes. */

/** Repeated calls change nothing, so both calls return the same data. */
const copy = { name: 'track_parcel', language: 'en', newName: 'follow_parcel' }
/** Already on the list, so that adding it returns the same response twice. */
const suppressed = '34600999001'

const photo = jpeg()
const files = await forFile(startFileServer((_request, response) => response.end(photo)))
const server = await forFile(startTestServer())
const account = await server.account()
await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
await account.post('/api/v1/template/delete', { name: 'pick_up_point', language: 'en' })
await account.post('/api/v1/template/duplicate', copy)
const messageId = String((await account.post('/api/v1/message/send', exampleSend)).json().data['messageId'])
const mediaId = await upload()
await account.post('/api/v1/suppression/add', { to: suppressed })

async function upload(): Promise<unknown> {
  const form = await postForm({ url: server.url, apiKey: account.apiKey }, [{ name: 'file', content: jpeg() }])
  return form.json().data['mediaId']
}

async function byRest({ method, path }: ApiProcedure, input: Record<string, unknown>): Promise<TestResponse> {
  const rest = { ...input }
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(rest[name]))
    delete rest[name]
    return value
  })
  if (method === 'POST') return account.post(url, rest)
  return account.get(
    `${url}?${new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString()}`,
  )
}

async function byTrpc(
  name: string,
  { kind }: ApiProcedure,
  input: unknown,
): Promise<{ data: unknown } | ({ code: string; message: string } & ErrorDetails)> {
  const url = `/trpc/${name}`
  const response =
    kind === 'mutation'
      ? await account.post(url, input)
      : await account.get(`${url}?input=${encodeURIComponent(JSON.stringify(input))}`)
  const body = JSON.parse(response.text) as { result?: { data: unknown }; error?: { message: string; data: ErrorData } }
  if (!body.error) return { data: body.result?.data }
  const { code, messageId, failureCode, field } = body.error.data
  return { code, message: body.error.message, messageId, failureCode, field }
}

function withoutIds(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/(?:msg|med)_[0-9a-z]{26}|wamid\.[\w+/=]+/g, '<id>')
    .replaceAll(/("(?:expiresAt|resendAt)":)"[^"]+"/g, '$1<time>')
}

type Input = Record<string, unknown>

const trackParcel = {
  name: 'track_parcel',
  language: 'en',
  category: 'UTILITY',
  body: { text: 'Hello {{1}}, follow your parcel on our page.', examples: { '1': 'Ada' } },
  buttons: [{ type: 'URL', text: 'Track', url: 'https://example.com/track/{{1}}', example: 'A-1024' }],
}

const good: Record<string, () => Input | Promise<Input>> = {
  'message.send': () => ({ ...exampleSend }),
  'message.preview': () => ({ ...exampleSend }),
  'message.get': () => ({ messageId }),
  'message.list': () => ({
    externalId: 'order-1042',
    until: '2100-01-01T00:00:00Z',
    from: '2020-01-01T00:00:00Z',
    limit: 1,
  }),
  'template.get': () => ({ name: 'order_shipped', language: 'en' }),
  'template.list': () => ({ status: 'APPROVED', limit: 2 }),
  'template.create': () => trackParcel,
  'template.update': () => trackParcel,
  'template.delete': () => ({ name: 'pick_up_point', language: 'en' }),
  'template.duplicate': () => copy,
  'account.health': () => ({}),
  'media.import': () => ({ link: `${files.url}/photo.jpg` }),
  'media.get': () => ({ mediaId }),
  // A file can be deleted once.
  'media.delete': async () => ({ mediaId: await upload() }),
  'event.list': () => ({ type: 'message.failed', limit: 2 }),
  'code.send': async () => {
    // Otherwise, the second call would be too early.
    await server.deps.db.deleteFrom('one_time_code_limits').execute()
    return codeToSend
  },
  'code.check': async () => {
    await server.deps.db.deleteFrom('one_time_code_limits').execute()
    await account.post('/api/v1/code/send', codeToSend)
    return { to: codeToSend.to, code: codeToSend.code }
  },
  'suppression.list': () => ({ to: suppressed, limit: 2 }),
  'suppression.add': () => ({ to: suppressed }),
  'suppression.remove': () => ({ to: '34600999002' }),
  'suppression.import': () => ({ recipients: [suppressed] }),
}

const codeToSend = { to: '34600111222', template: 'login_code', language: 'en', code: '481516' }

test.each(listProcedures(contracts))('$name returns the same data by REST and by tRPC', async ({ name, contract }) => {
  const readInput = good[name]
  if (!readInput) throw new Error(`add an input for ${name} to this test`)
  // The newest message must stay the same between the two calls to a list.
  const [rest, trpc] = [await byRest(contract, await readInput()), await byTrpc(name, contract, await readInput())]

  expect(rest.json().success).toBe(true)
  expect(withoutIds({ data: rest.json().data })).toBe(withoutIds(trpc))
  expect(contract.output.safeParse(rest.json().data).error).toBeUndefined()
})

const procedures = new Map(listProcedures(contracts).map(({ name, contract }) => [name, contract]))

const bad: { name: string; input: Record<string, unknown> }[] = [
  { name: 'message.send', input: {} },
  { name: 'message.send', input: { ...exampleSend, template: 'unknown' } },
  { name: 'message.send', input: { ...exampleSend, accountId: 'wa_unknown' } },
  { name: 'message.send', input: { ...exampleSend, to: '15550131026' } },
  { name: 'message.send', input: { ...exampleSend, to: '15550131056' } },
  { name: 'message.send', input: { ...exampleSend, to: '15550131016' } },
  { name: 'message.send', input: { ...exampleSend, to: '15559000004' } },
  { name: 'message.preview', input: { ...exampleSend, variables: {} } },
  {
    name: 'message.preview',
    input: {
      to: suppressed,
      template: 'birthday_coupon',
      language: 'en',
      variables: { '1': 'Ada' },
      buttons: [{ index: 0, couponCode: 'GIFT9' }],
    },
  },
  { name: 'code.send', input: { ...codeToSend, clientIp: 'localhost' } },
  { name: 'code.send', input: { ...codeToSend, template: 'order_shipped' } },
  { name: 'code.check', input: { to: '34600111999', code: '481516' } },
  { name: 'suppression.list', input: { cursor: 'sup_unknown' } },
  { name: 'suppression.add', input: { to: '+34600111222' } },
  { name: 'suppression.import', input: { recipients: [] } },
  { name: 'message.get', input: { messageId: 'msg_unknown' } },
  { name: 'message.list', input: { limit: 1000 } },
  { name: 'media.import', input: { link: 'ftp://example.com/x' } },
  { name: 'media.import', input: { link: 'http://127.0.0.1:1/photo.jpg' } },
  { name: 'media.get', input: { mediaId: 'med_unknown' } },
  { name: 'media.delete', input: { mediaId: 'med_unknown' } },
  { name: 'media.delete', input: {} },
  { name: 'template.get', input: { name: 'unknown', language: 'en' } },
  { name: 'template.list', input: { accountId: 'wa_unknown' } },
]

test.each(bad)('$name fails with the same error by REST and by tRPC: $input', async ({ name, input }) => {
  const contract = procedures.get(name)
  if (!contract) throw new Error(`there is no procedure ${name}`)
  const [rest, trpc] = [await byRest(contract, input), await byTrpc(name, contract, input)]

  expect(rest.json().success).toBe(false)
  expect(withoutIds(rest.json().error)).toBe(withoutIds(trpc))
  expect(contract.errors).toContain(rest.json().error.code)
})

test('serves every contract and no other procedure', async () => {
  for (const { name, contract } of listProcedures(contracts))
    expect(await byTrpc(name, contract, {})).not.toMatchObject({ code: 'NOT_FOUND' })
  for (const name of ['message.delete', 'media.upload'])
    expect(await byTrpc(name, sendMessage, {})).toMatchObject({ code: 'NOT_FOUND' })
})

test('returns typed errors of the procedure as values in the client', async () => {
  const [sent, none] = await safe(account.trpc.message.send.mutate(exampleSend))
  expect(none).toBeUndefined()
  expect(sent?.status).toBe('sent')

  const [nothing, error] = await safe(account.trpc.message.send.mutate({ ...exampleSend, to: '15550131056' }))
  expect(nothing).toBeUndefined()
  expect(error).toBeInstanceOf(TRPCClientError)
  expect(error?.data).toMatchObject({
    code: 'WHATSAPP_THROTTLED',
    httpStatus: 429,
    retryAfterSeconds: expect.any(Number),
  })
})

test('never sends twice for one idempotency key over tRPC', async () => {
  const context = { idempotencyKey: 'trpc-1' }
  const first = await account.trpc.message.send.mutate(exampleSend, { context })
  const retry = await account.trpc.message.send.mutate(exampleSend, { context })
  expect(retry).toEqual(first)
})

test('sends rate limit headers over tRPC', async () => {
  const limited = await server.account({ rateLimit: 1 })
  const first = await limited.post('/trpc/message.send', exampleSend)
  const second = await limited.post('/trpc/message.send', exampleSend)
  expect(first.headers['ratelimit']).toMatch(/r=0/)
  expect(second.statusCode).toBe(429)
  expect(Number(second.headers['retry-after'])).toBeGreaterThan(0)
})
