import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { contracts } from '../../../contracts/index.ts'
import { listProcedures } from '../../../contracts/procedure.ts'
import { forFile } from '../../support/lifetime.ts'
import { type RequestOptions, startTestServer } from '../../support/server.ts'

/** Calls that bypass tRPC's adapter must return the same responses as through it. */

const server = await forFile(startTestServer())
const account = await server.account()
/** Receives the same calls through the adapter, so that the two calls of a pair do not affect each other. */
const twin = await server.account()

const procedures = listProcedures(contracts)
const names = [...procedures.map(({ name }) => name), 'message.delete', 'constructor', '__proto__']

/** Valid, nearly valid, arbitrary and non-JSON inputs. */
const inputs = fc.oneof(
  fc
    .constantFrom(...procedures)
    .chain(({ contract }) => fc.subarray(Object.entries<unknown>(contract.example.input)))
    .map((fields) => JSON.stringify(Object.fromEntries(fields))),
  fc.constantFrom(...procedures).map(({ contract }) => JSON.stringify(contract.example.input)),
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '{', 'null', '\uFEFF{}', '{"__proto__":1}'),
)

interface Call {
  method: 'GET' | 'POST'
  name: string
  text: string
  apiKey: string
}

const calls = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  name: fc.constantFrom(...names),
  text: inputs,
  apiKey: fc.constantFrom('its own', 'its own', 'its own', '', 'wb_live_unknown'),
})

/** With `byAdapter`, writes the call in a form that the adapter handles. */
async function responseTo({ method, name, text, apiKey }: Call, byAdapter: boolean): Promise<object> {
  const headers: Record<string, string> =
    apiKey === '' ? {} : { 'x-api-key': apiKey === 'its own' ? (byAdapter ? twin : account).apiKey : apiKey }
  const path = `/trpc/${name}`
  const [url, options]: [string, RequestOptions] =
    method === 'GET'
      ? [`${path}?input=${encodeURIComponent(text.toWellFormed())}${byAdapter ? '&other' : ''}`, { headers }]
      : [
          path,
          {
            headers: { ...headers, 'content-type': `application/json${byAdapter ? '; charset=utf-8' : ''}` },
            body: text,
          },
        ]
  const response = await server.request(method, url, options)
  const {
    date: _date,
    'x-request-id': _id,
    'content-length': _length,
    'transfer-encoding': _encoding,
    ratelimit: _left,
    ...rest
  } = response.headers
  return { status: response.statusCode, headers: rest, body: comparable(response.text) }
}

/** Removes IDs, cursors and times, which differ between the two accounts. */
function comparable(text: string): string {
  const varying =
    /\b(msg|req|wa|key)_[0-9a-z_]+|wamid\.[\w+/=]+|"(nextCursor|phoneNumberId)":"[^"]+"|\d{4}-\d\d-\d\dT[\d:.]+Z/g
  return sortSuppressions(text.replaceAll(varying, '<varies>'))
}

/** Those of one import are listed in any order, because their IDs have the same time. */
function sortSuppressions(text: string): string {
  return text.replace(/(?<="items":\[)\{"to":.*\}(?=\])/, (items) =>
    items
      .split(/(?<=\}),/)
      .toSorted()
      .join(),
  )
}

test('returns the same response as the adapter for any call', async () => {
  await fc.assert(
    fc.asyncProperty(calls, async (call) => {
      const [direct, adapters] = [await responseTo(call, false), await responseTo(call, true)]
      expect(direct).toEqual(adapters)
    }),
    { numRuns: 400 },
  )
})

test.each([
  { call: 'a batch', method: 'POST', url: '/trpc/message.preview?batch=1', body: { 0: {} }, isList: true },
  { call: 'a mutation', method: 'POST', url: '/trpc/message.preview', body: {}, isList: false },
])('responds to $call in its own format', async ({ method, url, body, isList }) => {
  const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' }
  const response = await server.request(method, url, { headers, body: JSON.stringify(body) })
  expect(Array.isArray(JSON.parse(response.text))).toBe(isList)
})

test('bypasses the adapter, which creates a Response, for a call in its plain form only', async () => {
  // Otherwise the property above would compare the adapter with itself.
  using responses = vi.spyOn(globalThis, 'Response')
  const headers = { 'x-api-key': account.apiKey }
  const direct = await server.request('GET', '/trpc/template.list', { headers })
  expect(responses).not.toHaveBeenCalled()
  const adapters = await server.request('GET', '/trpc/template.list?other', { headers })
  expect(responses).toHaveBeenCalledOnce()

  expect(direct.text).toBe(adapters.text)
  for (const response of [direct, adapters])
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.text)))
})
