import { appendFile, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import type { MediaServices } from '../../src/media/services.ts'
import { deleteExpiredWhatsAppMediaIds } from '../../src/media/whatsapp-media-ids-store.ts'
import { createCloudApi } from '../../src/whatsapp/client/cloud-api.ts'
import { forFile } from '../support/lifetime.ts'
import { createTestMedia } from '../support/media.ts'
import { jpeg, mp4, pdf } from '../support/media-files.ts'
import { nodeForTest, type TestAccount, through } from '../support/server.ts'
import { startMediaServer } from './media-server.ts'

const { media, server, upload, uploadImage, uploadsOf } = await forFile(startMediaServer())

function photoMessage(mediaId: string) {
  return { to: '34600111222', template: 'order_photo', language: 'en', header: { image: { mediaId } } }
}

function sendImage(by: TestAccount, mediaId: string, more: object = {}) {
  return by.post('/api/v1/message/send', { ...photoMessage(mediaId), ...more })
}

async function withPhotoTemplate(): Promise<TestAccount> {
  const fresh = await server.account()
  await fresh.template({
    name: 'order_photo',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Your order.' },
    ],
  })
  return fresh
}

/** Another node with one slot and the same store, until the test ends. */
function nodeOfStore(limits: Partial<MediaServices['limits']>, uploadMedia = server.deps.whatsapp.uploadMedia) {
  const shared = createTestMedia({ store: { kind: 'folder', path: path.join(media.folder, 'store') } })
  return nodeForTest(server, {
    server: { maxConcurrentRequests: 1 },
    deps: {
      media: { ...shared, limits: { ...shared.limits, ...limits } },
      whatsapp: { ...server.deps.whatsapp, uploadMedia },
    },
  })
}

function lastSent(): Record<string, unknown> {
  return server.simulator.requests.findLast(({ path: to }) => to.endsWith('/messages'))?.body as Record<string, unknown>
}

test('sends an uploaded file with the ID that WhatsApp assigned', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)

  expect((await sendImage(sender, mediaId)).statusCode).toBe(200)

  const [uploaded] = uploadsOf(sender)
  expect(lastSent()).toMatchObject({
    template: { components: [{ type: 'header', parameters: [{ type: 'image', image: { id: uploaded?.id } }] }] },
  })
})

test('sends a document with the file name of its upload, unless the send names it', async () => {
  const sender = await server.account()
  const response = await upload(pdf(), '../../Invoice 7.pdf', sender)
  const send = (document: object) =>
    sender.post('/api/v1/message/send', {
      to: '34600111222',
      template: 'invoice',
      language: 'en',
      variables: { '1': 'Ada' },
      header: { document },
      buttons: [{ index: 1, url: 'B-7' }],
    })
  const { mediaId } = response.json().data

  expect(response.json().data['filename']).toBe('Invoice 7.pdf')
  expect((await send({ mediaId })).text).toContain('"status":"sent"')
  expect(JSON.stringify(lastSent())).toContain('"filename":"Invoice 7.pdf"')
  await send({ mediaId, filename: 'other.pdf' })
  expect(JSON.stringify(lastSent())).toContain('"filename":"other.pdf"')
})

test('uploads a file again from the store for another number, once', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const phoneNumberId = '990000000000001'
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })

  const responses = await Promise.all([1, 2, 3].map(() => sendImage(sender, mediaId, { accountId })))

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  expect(uploadsOf({ phoneNumberId })).toHaveLength(1)
})

test('uploads a file again after WhatsApp has deleted it', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const [first] = uploadsOf(sender)
  await server.deps.db
    .updateTable('media_at_whatsapp')
    .set({ expires_at: new Date(Date.now() - 1000) })
    .where('wa_media_id', '=', first?.id ?? '')
    .execute()
  server.simulator.media.clear()

  expect((await sendImage(sender, mediaId)).statusCode).toBe(200)
  expect(uploadsOf(sender)).toHaveLength(1)
})

/** A node with one slot, and a file that another process uploads to WhatsApp until `endUpload`. */
async function startDuringUpload(sendWaitMilliseconds: number) {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const ofFile = server.deps.db.updateTable('media_at_whatsapp').where('account_id', '=', sender.accountId)
  const uploading = { wa_media_id: null, expires_at: null, claimed_by: 'another process' }
  await ofFile.set({ ...uploading, claimed_until: new Date(Date.now() + 600_000) }).execute()
  const node = await nodeOfStore({ sendWaitMilliseconds })
  const { post } = through(node, sender)
  return {
    sender,
    running: node.deps.media.running,
    endUpload: () => ofFile.set({ claimed_until: new Date(0) }).execute(),
    send: (input: object = photoMessage(mediaId)) => post('/api/v1/message/send', input),
  }
}

test('holds no slot while a send waits for the upload of its file', async () => {
  const { running, endUpload, send } = await startDuringUpload(600_000)
  let hasEnded = false
  const waiting = send().finally(() => (hasEnded = true))
  await expect.poll(() => running.size).toBe(1)

  expect((await send(sendMessage.example.input)).statusCode).toBe(200)
  expect(hasEnded).toBe(false)

  await endUpload()
  expect((await waiting).statusCode).toBe(200)
})

test('ends a send that waits too long for the upload of its file', async () => {
  const { sender, running, endUpload, send } = await startDuringUpload(1_100)

  const late = await send()
  expect(late.json().error).toEqual({
    code: 'WHATSAPP_UNAVAILABLE',
    message: 'WhatsApp is unavailable: it did not have the file after 2 seconds. Nothing was sent.',
  })
  expect(late.headers['retry-after']).toBe('5')

  // The upload continues in the background.
  await endUpload()
  await expect.poll(() => running.size).toBe(0)
  expect(uploadsOf(sender)).toHaveLength(2)
  expect((await send()).statusCode).toBe(200)
  expect(uploadsOf(sender)).toHaveLength(2)
})

test('claims an upload to WhatsApp for a moment, and renews the claim while the upload lasts', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const phoneNumberId = '990000000000002'
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { whatsapp } = server.deps
  const uploadMedia: typeof whatsapp.uploadMedia = (...given) => released.then(() => whatsapp.uploadMedia(...given))
  const node = await nodeOfStore({ claimMilliseconds: 600 }, uploadMedia)
  const readClaim = async () => {
    const claims = server.deps.db.selectFrom('media_at_whatsapp').select('claimed_until')
    const claim = await claims.where('phone_number_id', '=', phoneNumberId).executeTakeFirst()
    return claim?.claimed_until?.getTime() ?? 0
  }
  const sending = through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })
  await expect.poll(readClaim).toBeGreaterThan(0)

  // If this process is killed, another one uploads the file then.
  const claimedUntil = await readClaim()
  expect(claimedUntil - Date.now()).toBeLessThan(60_000)
  await expect.poll(readClaim).toBeGreaterThan(claimedUntil)

  release()
  expect((await sending).statusCode).toBe(200)
  expect(uploadsOf({ phoneNumberId })).toHaveLength(1)
})

test('deletes a file at WhatsApp that is deleted while a send uploads it for another number', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const phoneNumberId = '990000000000020'
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  const { whatsapp } = server.deps
  const deleteMeanwhile: typeof whatsapp.uploadMedia = async (...given) => {
    const outcome = await whatsapp.uploadMedia(...given)
    await sender.trpc.media.delete.mutate({ mediaId })
    return outcome
  }
  const node = await nodeOfStore({}, deleteMeanwhile)

  const response = await through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })

  expect(response.json().error).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The file was deleted while it was uploaded to WhatsApp. Nothing was sent. Try again.',
  })
  expect(uploadsOf({ phoneNumberId })).toEqual([])
})

test('keeps the ID of a file whose claim expired and was deleted during its upload', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const phoneNumberId = '990000000000021'
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  const { db, whatsapp } = server.deps
  const deleteClaim: typeof whatsapp.uploadMedia = async (...given) => {
    const outcome = await whatsapp.uploadMedia(...given)
    await db
      .updateTable('media_at_whatsapp')
      .set({ claimed_until: new Date(0) })
      .where('phone_number_id', '=', phoneNumberId)
      .execute()
    await deleteExpiredWhatsAppMediaIds(db, new Date())
    return outcome
  }
  const node = await nodeOfStore({}, deleteClaim)
  const send = () => through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })

  expect((await send()).statusCode).toBe(200)
  expect((await send()).statusCode).toBe(200)
  expect(uploadsOf({ phoneNumberId })).toHaveLength(1)
})

test('logs once that the claim of an upload could not be renewed', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  const phoneNumberId = '990000000000003'
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { db, whatsapp } = server.deps
  await sql`create sequence renewals`.execute(db)
  await sql`
    create function fail_renewal() returns trigger language plpgsql as $$
    begin perform nextval('renewals'); raise exception 'disk full' using errcode = '53100'; end $$`.execute(db)
  await sql`
    create trigger fail_renewal before update on media_at_whatsapp for each row
    when (new.phone_number_id = ${sql.lit(phoneNumberId)} and new.wa_media_id is null)
    execute function fail_renewal()`.execute(db)
  const uploadMedia: typeof whatsapp.uploadMedia = (...given) => released.then(() => whatsapp.uploadMedia(...given))
  const node = await nodeOfStore({ claimMilliseconds: 600 }, uploadMedia)
  const sending = through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })
  const countRenewals = async () =>
    Number((await sql<{ n: string }>`select last_value as n from renewals`.execute(db)).rows[0]?.n)
  await expect.poll(countRenewals).toBeGreaterThan(2)
  await sql`drop function fail_renewal cascade`.execute(db)

  release()
  expect((await sending).statusCode).toBe(200)
  expect(node.log.filter((line) => line.includes('could not renew the claim of a file upload'))).toHaveLength(1)
})

test.each([
  { what: 'other bytes', phoneNumberId: '990000000000010', damage: (file: string) => writeFile(file, jpeg(70_000)) },
  { what: 'fewer bytes', phoneNumberId: '990000000000011', damage: (file: string) => truncate(file, 1_000) },
  {
    what: 'more bytes',
    phoneNumberId: '990000000000012',
    damage: (file: string) => appendFile(file, 'x'.repeat(200_000)),
  },
])('sends no file of which the store returns $what', async ({ phoneNumberId, damage }) => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender, jpeg(70_000))
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  await damage(path.join(media.folder, 'store', mediaId.slice(-2), mediaId))

  const response = await sendImage(sender, mediaId, { accountId })

  expect(response.json().error).toEqual({
    code: 'VALIDATION_ERROR',
    message: `The file ${mediaId} is damaged in the media store, and WhatsApp does not have it for this number. Upload it again.`,
  })
  expect(uploadsOf({ phoneNumberId })).toEqual([])
  expect(server.log.filter((line) => line.includes(mediaId) && line.includes('is damaged'))).toHaveLength(1)
})

test.each([
  { what: 'damaged', phoneNumberId: '990000000000013', damage: (file: string) => truncate(file, 1_000) },
  { what: 'lost', phoneNumberId: '990000000000014', damage: (file: string) => rm(file) },
])('replaces a file that is $what in the store if it is uploaded again', async ({ phoneNumberId, damage }) => {
  const sender = await withPhotoTemplate()
  const content = jpeg(70_000)
  const mediaId = await uploadImage(sender, content)
  await damage(path.join(media.folder, 'store', mediaId.slice(-2), mediaId))

  expect(await uploadImage(sender, content)).toBe(mediaId)

  const accountId = await sender.addWhatsAppAccount({ phoneNumberId })
  const response = await sendImage(sender, mediaId, { accountId })
  expect(response.statusCode).toBe(200)
  expect(uploadsOf({ phoneNumberId })).toHaveLength(1)
})

test('closes a file that was not sent', async () => {
  const sender = await withPhotoTemplate()
  const content = jpeg()
  const mediaId = await uploadImage(sender, content)
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId: '990000000000006' })
  const file = Readable.from([content])
  const shared = createTestMedia()
  const whatsapp = createCloudApi({ url: 'http://127.0.0.1:9', version: 'v26.0' })
  const store = { ...shared.store, open: () => Promise.resolve(file) }
  const node = await nodeForTest(server, { deps: { media: { ...shared, store }, whatsapp } })

  const response = await through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })

  expect(response.json().error.code).toBe('WHATSAPP_UNAVAILABLE')
  expect(file.destroyed).toBe(true)
})

test('names the media store if it fails while a file is read', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender, jpeg(70_000))
  const accountId = await sender.addWhatsAppAccount({ phoneNumberId: '990000000000005' })
  const failing = Readable.from(
    (function* () {
      yield Buffer.alloc(1_000)
      throw new Error('other side closed')
    })(),
  )
  const shared = createTestMedia()
  const store = { ...shared.store, open: () => Promise.resolve(failing) }
  const node = await nodeForTest(server, { deps: { media: { ...shared, store } } })

  const response = await through(node, sender).post('/api/v1/message/send', { ...photoMessage(mediaId), accountId })

  expect(response.json().error).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The media store is unavailable. Nothing was stored or sent. Try again in a moment.',
  })
  expect(node.log.join('')).toContain('other side closed')
})

test('recovers if WhatsApp deletes a file early', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  await server.deps.db
    .updateTable('media_at_whatsapp')
    .set({ expires_at: new Date(Date.now() + 29 * 86_400_000 - 11 * 60_000) })
    .where('account_id', '=', sender.accountId)
    .execute()
  server.simulator.media.clear()

  const refused = await sendImage(sender, mediaId)
  expect(refused.json().error).toMatchObject({ code: 'MESSAGE_REJECTED' })
  expect(refused.json().error.message).toContain('media attachment ID')
  expect((await sendImage(sender, mediaId)).statusCode).toBe(200)
})

test('does not upload a new file again when WhatsApp rejects a message because of another parameter', async () => {
  const sender = await withPhotoTemplate()
  const mediaId = await uploadImage(sender)
  server.simulator.intercept(({ path: to }) =>
    to.endsWith('/messages')
      ? { kind: 'json', status: 400, body: { error: { code: 100, message: 'Invalid parameter' } } }
      : undefined,
  )
  const refused = await sendImage(sender, mediaId)
  server.simulator.intercept(undefined)
  const uploadsBefore = server.simulator.requests.filter(({ path: to }) => to.endsWith('/media')).length

  expect(refused.json().error.message).toContain('Invalid parameter')
  expect((await sendImage(sender, mediaId)).statusCode).toBe(200)
  expect(server.simulator.requests.filter(({ path: to }) => to.endsWith('/media'))).toHaveLength(uploadsBefore)
})

test('rejects a send with a file that is unknown, of another account or of another kind, before anything is sent', async () => {
  const sender = await withPhotoTemplate()
  const sent = server.simulator.requests.length
  const foreign = await uploadImage(await server.account())
  const video = String((await upload(mp4(), 'film.mp4', sender)).json().data['mediaId'])
  const uploads = server.simulator.requests.length - sent

  for (const mediaId of ['med_01kah3b9mzf5vt2d0wq8r6x4ye', foreign]) {
    const response = await sendImage(sender, mediaId)
    expect(response.json().error).toEqual({
      code: 'VALIDATION_ERROR',
      field: 'header.image.mediaId',
      message: 'header.image.mediaId: this account has no file with this ID, or it has expired; upload it again.',
    })
  }
  expect((await sendImage(sender, video)).json().error.message).toBe(
    'header.image.mediaId: must be a file of kind image; this one is of type video/mp4.',
  )
  const preview = await sender.post('/api/v1/message/preview', {
    to: '34600111222',
    template: 'order_photo',
    language: 'en',
    header: { image: { mediaId: foreign } },
  })
  expect(preview.statusCode).toBe(400)
  expect(server.simulator.requests.length - sent).toBe(uploads)
})

test("still accepts WhatsApp's own ID of a file", async () => {
  const sender = await withPhotoTemplate()
  await uploadImage(sender)
  const [uploaded] = uploadsOf(sender)

  expect((await sendImage(sender, uploaded?.id ?? '')).statusCode).toBe(200)
})

test.each([
  { link: 'https://fails.example/403', says: /http code 403.*Make the link public/ },
  { link: 'https://fails.example/404', says: /http code 404.*Check the link/ },
  { link: 'https://fails.example/type', says: /is of type text\/html.*right Content-Type/ },
])('explains after the send that WhatsApp could not use $link', async ({ link, says }) => {
  const sender = await withPhotoTemplate()
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
  const sent = await sendImage(sender, '', { header: { image: { link } } })
  expect(sent.json().data).toMatchObject({ status: 'sent' })

  const find = async () => (await sender.get(`/api/v1/message/${String(sent.json().data['messageId'])}`)).json().data
  await expect.poll(find).toMatchObject({ status: 'failed', error: { code: '131053' } })
  const events = await sender.trpc.event.list.query({ type: 'message.failed' })
  const [event] = events.items.map((item) => item.event)
  expect(event).toMatchObject({ data: { error: { code: '131053', message: expect.stringMatching(says) } } })
})
