import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import { openSocket } from '../../support/raw-socket.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

const recipients = Array.from({ length: 1000 }, (_, index) => String(34_600_300_000 + index))

/** Sends a part of a request, changes who may call, and sends the rest. */
async function sendAround(
  change: () => Promise<unknown>,
  { path, headers, body }: { path: string; headers: string; body: string },
): Promise<string> {
  const socket = openSocket(server.url)
  await once(socket, 'connect')
  const { host } = new URL(server.url)
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  )
  socket.write(body.slice(0, 5_000))
  // A whole request takes longer than reading the headers of this one.
  expect((await account.get('/api/v1/suppression')).statusCode).toBe(200)
  await change()
  const response = text(socket)
  socket.write(body.slice(5_000))
  return response
}

test.each(['/api/v1/suppression/import', '/trpc/suppression.import', '/trpc/suppression.import?batch=1'])(
  'imports nothing by %s with a key that is revoked while the list arrives',
  async (path) => {
    const input = path.includes('batch') ? { 0: { recipients } } : { recipients }
    const response = await sendAround(
      () => server.deps.db.deleteFrom('api_keys').where('account_id', '=', account.accountId).execute(),
      { path, headers: `X-API-Key: ${account.apiKey}`, body: JSON.stringify(input) },
    )

    expect(response).toContain('INVALID_API_KEY')
    expect(await listStored()).toEqual([])
  },
)

test('imports nothing of a member who is removed while the list arrives', async () => {
  const owner = await signedInOwner(server, account.accountId)
  const response = await sendAround(
    () => server.deps.db.deleteFrom('owner_roles').where('account_id', '=', account.accountId).execute(),
    {
      path: '/settings/trpc/settings.suppression.import',
      headers: `Origin: ${server.url}\r\nCookie: ${owner.cookie()}`,
      body: JSON.stringify({ accountId: account.accountId, recipients }),
    },
  )

  expect(response).toContain('NOT_FOUND')
  expect(await listStored()).toEqual([])
})

function listStored(): Promise<unknown[]> {
  return server.deps.db.selectFrom('suppressions').selectAll().where('account_id', '=', account.accountId).execute()
}
