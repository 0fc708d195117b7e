import { once } from 'node:events'
import { chmodSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { findAccount } from '../../../src/accounts/store.ts'
import { runOnServer } from '../../../src/cli/run-data-command.ts'
import { type ControlServer, startControlServer } from '../../../src/cli/control/server.ts'
import { chooseControlSocket, type ControlSocket } from '../../../src/cli/control/protocol.ts'
import type { Deps } from '../../../src/deps.ts'
import { createTestDeps } from '../../support/deps.ts'
import { openTestDatabase } from '../../support/database.ts'
import { nobody } from '../run-command.ts'
import { folderForTest, forTest } from '../../support/lifetime.ts'

const umask = process.umask()
let deps: Deps
let folder: string
let socket: ControlSocket
let control: ControlServer
beforeEach(async () => {
  deps = createTestDeps(await forTest(openTestDatabase()))
  folder = await folderForTest()
  chmodSync(folder, 0o755)
  socket = chooseControlSocket(folder)
  control = await forTest(startControlServer(deps, socket))
})

test.skipIf(process.platform === 'win32')('creates a private control socket in a folder that others can access', () => {
  expect(statSync(socket.path).mode & 0o777).toBe(0o600)
  expect(process.umask()).toBe(umask)
})

test('passes questions to the user of the command, and the answers to the server', async () => {
  const { accountId } = await createAccount(deps, { name: 'Old\u2028shop' })
  const questions: string[] = []
  const remove = (answer: string | undefined) =>
    runOnServer({ dataDir: folder, socketPath: socket.path }, ['account', 'remove', accountId], {
      ...nobody,
      ask: ({ text }) => Promise.resolve((questions.push(text), answer)),
    })

  expect(await remove(undefined)).toMatchObject({ ok: true, answer: { exitCode: 2, json: { removed: null } } })
  expect(await remove('another')).toMatchObject({ ok: false, failure: { exitCode: 2 } })
  expect(await findAccount(deps.db, accountId)).toBeDefined()
  expect(await remove(accountId)).toMatchObject({ ok: true, answer: { json: { accountId } } })

  expect(await findAccount(deps.db, accountId)).toBeUndefined()
  expect(questions).toEqual(
    Array.from({ length: 3 }, () => `Type ${accountId} to remove the account "Old\u2028shop" with all its data:`),
  )
})

test('does not wait for an answer when the server stops', async () => {
  const { accountId } = await createAccount(deps, { name: 'Shop' })
  const client = connect(socket.path)
  client.write(`${JSON.stringify({ argv: ['account', 'remove', accountId] })}\n`)
  await new Promise((resolve) => client.once('data', resolve))

  await control.stop()

  expect(await findAccount(deps.db, accountId)).toBeDefined()
  client.destroy()
})

test('asks for a restart of a server whose version asks in its result', async () => {
  await control.stop()
  const earlier = createServer((connection) => {
    const answer = { json: {}, text: 'Missing: --confirm', exitCode: 2, question: { option: 'confirm', text: 'Sure?' } }
    connection.end(`${JSON.stringify({ ok: true, answer })}\n`)
  })
  await once(earlier.listen(socket.path), 'listening')
  chmodSync(socket.path, 0o600)
  onTestFinished(() => void earlier.close())

  const asked = runOnServer({ dataDir: folder, socketPath: socket.path }, ['account', 'remove', 'acc_1'], nobody)

  await expect(asked).rejects.toThrow('The running server has another version. Restart it with this version.')
})
