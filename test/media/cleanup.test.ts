import { readdirSync } from 'node:fs'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { removeAccount } from '../../src/cli/account-data/remove.ts'
import { cleanUpMedia } from '../../src/media/media.ts'
import { forFile } from '../support/lifetime.ts'
import { createTestMedia } from '../support/media.ts'
import { jpeg } from '../support/media-files.ts'
import { nodeForTest } from '../support/server.ts'
import { startMediaServer } from './media-server.ts'

const { media, server, account, uploadImage, uploadsOf, listFiles, listKeptFiles } = await forFile(startMediaServer())

test('deletes a file in the store and at WhatsApp', async () => {
  const mediaId = await uploadImage()
  const before = uploadsOf(account).length

  expect(await account.trpc.media.delete.mutate({ mediaId })).toEqual({ mediaId })

  expect(uploadsOf(account)).toHaveLength(before - 1)
  expect(await listFiles()).not.toContain(mediaId)
  expect((await account.get(`/api/v1/media/${mediaId}`)).statusCode).toBe(404)
  expect((await account.post('/api/v1/media/delete', { mediaId })).statusCode).toBe(404)
})

test('removes what a killed process left of uploads, on the machine of each process', async () => {
  const media = createTestMedia()
  const { spoolDir } = media.limits
  const [left, arriving] = [path.join(spoolDir, 'left'), path.join(spoolDir, 'arriving')]
  await mkdir(spoolDir, { recursive: true })
  for (const file of [left, arriving]) await writeFile(file, jpeg())
  const hoursAgo = new Date(Date.now() - 2 * 60 * 60_000)
  await utimes(left, hoursAgo, hoursAgo)

  await nodeForTest(server, { deps: { media } })

  await expect.poll(() => readdirSync(spoolDir)).toEqual(['arriving'])
})

test('deletes the files of an account that is removed', async () => {
  const removed = await server.account()
  const [mine, theirs, deleted] = [await uploadImage(), await uploadImage(removed), await uploadImage(removed)]
  // The store was unavailable when this file was deleted.
  await server.deps.db.updateTable('media').set({ deleted_at: new Date() }).where('id', '=', deleted).execute()

  await removeAccount(server.deps.db, removed.accountId)
  await cleanUpMedia(server.deps)

  const files = await listKeptFiles()
  expect(files).toContain(mine)
  expect(files).not.toContain(theirs)
  expect(files).not.toContain(deleted)
  expect(await server.deps.db.selectFrom('removed_media').selectAll().execute()).toEqual([])
})

test('deletes other files if one cannot be deleted', async () => {
  const removed = await server.account()
  const ids = [await uploadImage(removed), await uploadImage(removed), await uploadImage()].toSorted()
  await server.deps.db.updateTable('media').set({ deleted_at: new Date() }).where('id', 'in', ids).execute()
  const [stuck = '', ...others] = ids
  const place = path.join(media.folder, 'store', stuck.slice(-2), stuck)
  await rm(place)
  await mkdir(path.join(place, 'in the way'), { recursive: true })

  await removeAccount(server.deps.db, removed.accountId)
  await cleanUpMedia(server.deps)

  const files = await listKeptFiles()
  for (const id of others) expect(files).not.toContain(id)
  expect(
    server.log.filter((line) => line.includes(stuck) && line.includes('could not delete a stored file')),
  ).toHaveLength(1)

  await rm(place, { recursive: true })
  await cleanUpMedia(server.deps)
  expect(await server.deps.db.selectFrom('removed_media').selectAll().execute()).toEqual([])
})

test('gives up deleting files while the store does not respond, and fails', async () => {
  const ids = Array.from({ length: 150 }, (_, index) => `media_unavailable_${String(index).padStart(3, '0')}`)
  await server.deps.db
    .insertInto('removed_media')
    .values(ids.map((id) => ({ id })))
    .execute()
  let asked = 0
  const store = { ...server.deps.media.store, delete: () => Promise.reject(new Error(`no response ${++asked}`)) }

  await expect(cleanUpMedia({ ...server.deps, media: { ...server.deps.media, store } })).rejects.toThrow('no response')

  expect(asked).toBe(100)
  await server.deps.db.deleteFrom('removed_media').where('id', 'in', ids).execute()
})

test('deletes no file early if the clock of the process is ahead', async () => {
  const kept = await uploadImage()

  const ahead = { ...server.deps, now: () => new Date(Date.now() + 100 * 86_400_000) }
  await cleanUpMedia(ahead)

  expect(await listKeptFiles()).toContain(kept)
  expect((await account.get(`/api/v1/media/${kept}`)).statusCode).toBe(200)
})

test('deletes no file that has expired only by the clock of the database', async () => {
  const kept = await uploadImage()
  const before = new Date()
  await server.deps.db
    .updateTable('media')
    .set({ expires_at: new Date(before.getTime() - 60_000) })
    .where('id', '=', kept)
    .execute()

  await cleanUpMedia({ ...server.deps, now: () => new Date(before.getTime() - 3_600_000) })

  expect(await listKeptFiles()).toContain(kept)
})

test('deletes expired files, and no others', async () => {
  const [expired, kept] = [await uploadImage(), await uploadImage()]
  await server.deps.db
    .updateTable('media')
    .set({ expires_at: new Date(Date.now() - 1000) })
    .where('id', '=', expired)
    .execute()
  expect((await account.get(`/api/v1/media/${expired}`)).statusCode).toBe(404)

  await cleanUpMedia(server.deps)

  const files = await listKeptFiles()
  expect(files).toContain(kept)
  expect(files).not.toContain(expired)
  expect((await account.get(`/api/v1/media/${kept}`)).statusCode).toBe(200)
})
