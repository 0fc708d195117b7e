import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { askRaw } from '../../support/raw-socket.ts'
import { startTestServer, nodeForTest } from '../../support/server.ts'
import { forFile } from '../../support/lifetime.ts'

const server = await forFile(startTestServer())

test('links an error response to the page of its code', async () => {
  const account = await server.account()

  const invalid = await account.post('/api/v1/message/send', {})
  const unknown = await server.request('GET', '/api/v1/nothing')
  const anonymous = await server.request('GET', '/api/v1/message')

  expect(invalid.headers['link']).toBe('</docs/errors/VALIDATION_ERROR>; rel="help"')
  expect(unknown.headers['link']).toBe('</docs/errors/NOT_FOUND>; rel="help"')
  expect(anonymous.headers['link']).toBe('</docs/errors/INVALID_API_KEY>; rel="help"')
  expect((await server.request('GET', '/docs/errors/VALIDATION_ERROR')).statusCode).toBe(200)
})

test('adds no link to a successful response', async () => {
  const account = await server.account()

  const response = await account.post('/api/v1/message/send', sendMessage.example.input)

  expect(response.statusCode).toBe(200)
  expect(response.headers['link']).toBeUndefined()
})

test('adds the link to a failed tRPC call', async () => {
  const response = await server.request('GET', '/trpc/message.list')

  expect(response.headers['link']).toBe('</docs/errors/INVALID_API_KEY>; rel="help"')
})

test("adds no link to the dashboard's own codes, which have no page", async () => {
  const response = await server.request('GET', '/settings/trpc/settings.overview.get')

  expect(response.text).toContain('SIGN_IN_REQUIRED')
  expect(response.headers['link']).toBeUndefined()
})

test('makes the link absolute if the public URL is configured', async () => {
  const publicServer = await nodeForTest(server, { server: { publicUrl: 'https://waybill.example.com' } })

  const response = await publicServer.request('GET', '/api/v1/message')

  expect(response.headers['link']).toBe('<https://waybill.example.com/docs/errors/INVALID_API_KEY>; rel="help"')
})

test('adds the link to the response to invalid HTTP', async () => {
  const answer = await askRaw(server.url, 'nonsense\r\n\r\n')

  expect(answer).toContain('\r\nLink: </docs/errors/VALIDATION_ERROR>; rel="help"\r\n')
})
