import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { startSimulator, type Simulator } from '../../src/whatsapp/simulator/simulator.ts'
import { signedInOwner } from '../support/user.ts'
import { startPostgres, type RunningPostgres } from '../support/postgres.ts'
import { startServe, type ServeProcess } from '../support/process.ts'
import { requestsTo } from '../support/server.ts'
import { environmentOf, createCustomer, openApp } from './customer.ts'

let postgres: RunningPostgres
let simulator: Simulator
let app: App
let node: ServeProcess
let accountId: string
beforeAll(async () => {
  postgres = await startPostgres()
  simulator = await startSimulator()
  const environment = environmentOf(postgres.url, simulator)
  app = openApp(environment)
  ;({ accountId } = await createCustomer(app, simulator))
  node = await startServe(environment)
})
afterAll(async () => {
  node?.kill('SIGINT')
  await node?.exited
  await app.close()
  await simulator.stop()
  await postgres.stop()
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
