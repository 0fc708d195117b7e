import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { forFile } from '../../support/lifetime.ts'

/** Tests the media endpoints of the simulated Graph API with plain HTTP, like a third-party client. */

const simulator = await forFile(startSimulator())
const other = simulator.addPhoneNumber({ phoneNumberId: '42', wabaId: '43', accessToken: 'other-token' }).phoneNumberId
simulator.templates.add({
  name: 'photo',
  language: 'en',
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Hello.' },
  ],
})

async function call(
  method: string,
  path: string,
  { body, token = simulator.accessToken }: { body?: BodyInit; token?: string } = {},
) {
  const response = await fetch(`${simulator.url}/v25.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

function upload(
  type: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = { messaging_product: 'whatsapp' },
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([content], { type }), 'file')
  return call('POST', `${simulator.phoneNumberId}/media`, { body: form })
}

function send(image: object) {
  const template = {
    name: 'photo',
    language: { code: 'en' },
    components: [{ type: 'header', parameters: [{ type: 'image', image }] }],
  }
  const body = JSON.stringify({ messaging_product: 'whatsapp', to: '+34600111222', type: 'template', template })
  return call('POST', `${simulator.phoneNumberId}/messages`, { body })
}

test('accepts a file, describes it and deletes it', async () => {
  const { body: uploaded } = await upload('image/png', 'abc')
  const id = String(uploaded['id'])

  expect(await call('GET', `${id}?phone_number_id=${simulator.phoneNumberId}`)).toEqual({
    status: 200,
    body: {
      messaging_product: 'whatsapp',
      url: `${simulator.url}/simulated-media/${id}`,
      mime_type: 'image/png',
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      file_size: '3',
      id,
    },
  })
  expect((await send({ id })).status).toBe(200)
  expect((await call('DELETE', id)).body).toEqual({ success: true })
  expect((await call('DELETE', id)).body).toMatchObject({ error: { code: 100, error_subcode: 33 } })
  expect((await send({ id })).status).toBe(400)
})

test.each([
  { type: 'text/csv', says: /^\(#100\) Param file must be a file with one of the following types: .*'text\/csv'\.$/ },
  { type: 'image/gif', says: /'image\/gif'/ },
  { type: 'application/octet-stream', says: /'application\/octet-stream'/ },
])('rejects a file of type $type', async ({ type, says }) => {
  const { status, body } = await upload(type, 'abc')

  expect(status).toBe(400)
  expect(body).toMatchObject({ error: { code: 100, message: expect.stringMatching(says) } })
})

test('rejects an image of more than 5 MB, a form without the product, and a token of another number', async () => {
  expect((await upload('image/jpeg', new Uint8Array(5 * 1024 * 1024))).status).toBe(200)
  expect((await upload('image/jpeg', new Uint8Array(5 * 1024 * 1024 + 1))).body).toMatchObject({ error: { code: 100 } })
  expect((await upload('image/jpeg', 'abc', {})).body).toMatchObject({
    error: { code: 100, error_data: { details: 'The parameter messaging_product is required.' } },
  })
  const foreign = await call('POST', `${simulator.phoneNumberId}/media`, { body: new FormData(), token: 'other-token' })
  expect(foreign.body).toMatchObject({ error: { code: 100, error_subcode: 33 } })
})

test('hides the files of a number from other numbers', async () => {
  const { body: uploaded } = await upload('image/png', 'abc')
  const id = String(uploaded['id'])

  expect((await call('GET', id, { token: 'other-token' })).status).toBe(400)
  expect((await call('GET', `${id}?phone_number_id=${other}`)).status).toBe(400)
  simulator.media.set('77', { id: '77', phoneNumberId: other, type: 'image/png', size: 1, sha256: '' })
  expect((await send({ id: '77' })).body).toMatchObject({
    error: { code: 100, error_data: { details: expect.stringContaining('media attachment ID') } },
  })
})

test.each([
  { image: { id: '9000000000000001' }, status: 200 },
  { image: { id: '9000000000131053' }, status: 200 },
  { image: { id: '9000000000000033' }, status: 400 },
  { image: { id: '123' }, status: 400 },
  { image: { link: 'https://fails.example/403' }, status: 200 },
])('responds to a send with $image with $status', async ({ image, status }) => {
  expect((await send(image)).status).toBe(status)
})
