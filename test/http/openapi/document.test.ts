import { expect, test } from 'vitest'
import { contracts } from '../../../contracts/index.ts'
import { type ApiProcedure, listProcedures } from '../../../contracts/procedure.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { openApiForms } from '../../../src/http/openapi/openapi30.ts'
import { compileSchemaAt, openApi, pointTo, resolveParameter, resolveResponse } from '../../contracts/document.ts'
import { forFile } from '../../support/lifetime.ts'
import { jpeg, postForm, startFileServer } from '../../support/media-files.ts'
import { startTestServer, type TestResponse } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()
const photo = jpeg()
const files = await forFile(startFileServer((_request, response) => response.end(photo)))

/** The body matches the schema documented for its status, and all headers are documented. */
function expectDocumented(contract: ApiProcedure, response: TestResponse): void {
  const method = contract.method === 'GET' ? 'get' : 'post'
  const documented = openApi.paths[contract.path]?.[method]?.responses[response.statusCode]
  if (!documented) throw new Error(`${response.statusCode} is not documented for ${contract.path}: ${response.text}`)
  const keys =
    '$ref' in documented
      ? ['components', 'responses', documented.$ref.split('/').at(-1) ?? '']
      : ['paths', contract.path, method, 'responses', String(response.statusCode)]
  const validate = compileSchemaAt(pointTo(...keys, 'content', 'application/json', 'schema'))
  validate(response.json())
  expect(validate.errors ?? []).toEqual([])
  const named = Object.keys(resolveResponse(documented).headers).map((name) => name.toLowerCase())
  const ownHeaders = ['ratelimit', 'ratelimit-policy', 'retry-after', 'idempotent-replayed', 'x-request-id']
  expect(named).toEqual(expect.arrayContaining(ownHeaders.filter((name) => name in response.headers)))
}

async function call(
  contract: ApiProcedure,
  input: Record<string, unknown>,
  apiKey = account.apiKey,
): Promise<TestResponse> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  if (contract.method === 'POST') return server.request('POST', contract.path, { headers, body: JSON.stringify(input) })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input))
    if (!contract.path.includes(`{${name}}`)) query.set(name, String(value))
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  return server.request('GET', `${path}?${query.toString()}`, { headers })
}

const procedures = listProcedures(contracts)

test.each(procedures)('documents the response of $name to its example', async ({ contract }) => {
  // Uses a separate account, because the examples change and delete the same template.
  const { accountId, apiKey } = await server.account()
  await updateAccount(server.deps, accountId, { templateChangesEnabled: true })
  const sent = await call(contracts.message.send, contracts.message.send.example.input, apiKey)
  const { messageId } = sent.json().data
  const form = [{ name: 'file', content: jpeg() }]
  const { mediaId } = (await postForm({ url: server.url, apiKey }, form)).json().data
  if (contract === contracts.code.check) {
    const { code } = contract.example.input
    await call(contracts.code.send, { ...contracts.code.send.example.input, code }, apiKey)
  }
  const input = {
    ...contract.example.input,
    ...('messageId' in contract.input.shape && { messageId }),
    ...('mediaId' in contract.input.shape && { mediaId }),
    ...('link' in contract.input.shape && { link: `${files.url}/invoice.pdf` }),
    // The template of the example exists.
    ...(contract === contracts.template.create && { name: 'order_shipped_2' }),
  }

  const response = await call(contract, input, apiKey)

  expect(response.statusCode).toBe(200)
  expectDocumented(contract, response)
})

test.each(procedures)('documents the response of $name to an invalid key', async ({ contract }) => {
  const response = await call(contract, contract.example.input, 'wrong')

  expect(response.statusCode).toBe(401)
  expectDocumented(contract, response)
})

test.each(procedures)('documents the response of $name to invalid input', async ({ contract }) => {
  const response = await call(contract, { ...contract.example.input, nonsense: 'x' })

  expect(response.statusCode).toBe(400)
  expectDocumented(contract, response)
})

test.each([
  { contract: contracts.message.get, input: { messageId: 'msg_unknown' } },
  { contract: contracts.template.get, input: { name: 'unknown', language: 'en' } },
  { contract: contracts.message.send, input: { ...contracts.message.send.example.input, template: 'unknown' } },
  { contract: contracts.message.preview, input: { ...contracts.message.send.example.input, template: 'unknown' } },
])('documents the response of $contract.path for an unknown resource', async ({ contract, input }) => {
  const response = await call(contract, input)

  expect(response.statusCode).toBe(404)
  expectDocumented(contract, response)
})

test('documents the response to an account that exceeds its rate limit', async () => {
  const { apiKey } = await server.account({ rateLimit: 1 })
  await call(contracts.message.send, contracts.message.send.example.input, apiKey)

  const response = await call(contracts.message.send, contracts.message.send.example.input, apiKey)

  expect(response.statusCode).toBe(429)
  expectDocumented(contracts.message.send, response)
})

test.each([
  { name: 'openapi.yaml', url: '/openapi.yaml', type: 'application/yaml' },
  { name: 'openapi-3.0.json', url: '/openapi-3.0.json', type: 'application/json; charset=utf-8' },
] as const)('serves the form of openapi.json at $url', async ({ name, url, type }) => {
  const response = await server.request('GET', url)

  expect(response).toMatchObject({ statusCode: 200, headers: { 'content-type': type } })
  expect(response.text).toBe(openApiForms[name](openApi))
})

test('accepts the cursors of the examples', async () => {
  for (const contract of [contracts.message.list, contracts.template.list, contracts.event.list]) {
    const cursor = openApi.paths[contract.path]?.get?.parameters
      ?.map(resolveParameter)
      .find(({ name }) => name === 'cursor')
    const response = await call(contract, { cursor: cursor?.examples?.['default']?.value })

    expect(response.json()).toMatchObject({ success: true })
  }
})

test.each(['msg_unknown', 'x', 'msg_01KAH3B9MZF5VT2D0WQ8R6X4YE', 'msg_01kah3b9mzf5vt2d0wq8r6x4yee'])(
  '%s is the ID of no message, over REST and tRPC',
  async (messageId) => {
    const rest = await call(contracts.message.get, { messageId })
    const trpc = await account.trpc.message.get.query({ messageId }).catch((error: unknown) => error)

    expect(rest.json()).toMatchObject({
      success: false,
      error: { code: 'MESSAGE_NOT_FOUND', message: expect.stringContaining('GET /api/v1/message lists') },
    })
    expect(trpc).toMatchObject({ data: { code: 'MESSAGE_NOT_FOUND', httpStatus: 404 } })
  },
)
