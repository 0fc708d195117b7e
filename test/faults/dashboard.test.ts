import { expect, test } from 'vitest'
import { signedInOwner } from '../support/user.ts'
import { startServe } from '../support/process.ts'
import { requestsTo } from '../support/server.ts'
import { forFile } from '../support/lifetime.ts'
import { openScene } from './scene.ts'

const { postgres, environment, app, accountId } = await openScene()
const node = await startServe(environment)
await forFile({
  close: () => {
    node.kill('SIGINT')
    return node.exited
  },
})

test('reports an unavailable database and keeps the session until it recovers', async () => {
  const server = { url: node.url, request: requestsTo(node.url), deps: app.deps }
  const owner = await signedInOwner(server, accountId)
  const isUnavailable = { statusCode: 503, error: { data: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } } }

  await postgres.pause()
  expect(await owner.query('publicApi.get', { accountId })).toMatchObject(isUnavailable)
  const signIn = await owner.inOtherBrowser().signIn()
  expect(signIn.statusCode).toBe(503)
  expect(signIn.json().error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect((await owner.auth('/change-password', { currentPassword: owner.password, newPassword: 'x' })).statusCode).toBe(
    503,
  )

  await postgres.resume()
  await expect.poll(async () => (await owner.query('publicApi.get', { accountId })).statusCode).toBe(200)
})
