import { beforeEach, expect, test } from 'vitest'
import { testMediaPath } from '../../contracts/dashboard/template.ts'
import { forFile } from '../support/lifetime.ts'
import { createTestMedia } from '../support/media.ts'
import { pdf } from '../support/media-files.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'
import { signedInOwner, type TestOwner, visitor } from '../support/user.ts'

const server = await forFile(startTestServer({ deps: { media: createTestMedia() } }))
let account: TestAccount
let owner: TestOwner

beforeEach(async () => {
  account = await server.account()
  owner = await signedInOwner(server, account.accountId)
})

function upload(by: TestOwner, content: Buffer) {
  const query = new URLSearchParams({ accountId: account.accountId })
  return by.postForm(`${testMediaPath}?${query}`, [{ name: 'file', content, filename: 'invoice.pdf' }])
}

test('uploads the file of a test message, which the audit log records', async () => {
  const response = await upload(owner, pdf())

  expect(response.json().data).toMatchObject({
    mediaId: expect.stringMatching(/^med_/),
    kind: 'document',
    filename: 'invoice.pdf',
  })
  const { data } = await owner.query<{ items: object[] }>('audit.list', { accountId: account.accountId })
  expect(data.items).toContainEqual(expect.objectContaining({ what: 'uploaded a file', outcome: 'done' }))
})

test('rejects a file that no message can show, with a reason for users', async () => {
  const response = await upload(owner, Buffer.from('MZ\x90\x00\x03 a program', 'latin1'))

  expect(response.statusCode).toBe(415)
  expect(response.json().error).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
})

test('uploads for owners of the account only', async () => {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const outsider = await signedInOwner(server, (await server.account()).accountId)

  expect((await upload(viewer, pdf())).statusCode).toBe(403)
  expect((await upload(outsider, pdf())).statusCode).toBe(404)
  expect((await upload(visitor(server), pdf())).statusCode).toBe(401)
})
