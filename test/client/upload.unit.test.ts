import { expect, test } from 'vitest'
import { isWaybillError, type MediaToUpload, uploadMedia } from '../../src/client/client.ts'

const media = { mediaId: 'med_01kah3b9mzf5vt2d0wq8r6x4ye' }

/** Uploads to a server that answers with `respond`, and returns the forms that it received. */
async function upload(media: MediaToUpload, respond: () => Response | Promise<Response>): Promise<FormData[]> {
  const forms: FormData[] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    forms.push(init?.body as FormData)
    return respond()
  }
  await uploadMedia({ url: 'http://127.0.0.1:3000', apiKey: 'wb_live_x', fetch }, media)
  return forms
}

const pdf = new File(['%PDF-1.4'], 'invoice.pdf')

test.each([
  { named: 'the filename of the call', toUpload: { file: pdf, filename: 'july.pdf' }, filename: 'july.pdf' },
  { named: 'the name of a File', toUpload: { file: pdf }, filename: 'invoice.pdf' },
  { named: '"file" for a Blob', toUpload: { file: new Blob(['%PDF-1.4']) }, filename: 'file' },
  { named: '"file" for a File without a name', toUpload: { file: new File(['%PDF-1.4'], '') }, filename: 'file' },
])('names the file after $named', async ({ toUpload, filename }) => {
  const [form] = await upload(toUpload, () => Response.json({ success: true, data: media }))

  expect(form?.get('file')).toMatchObject({ name: filename })
})

test.each([
  { problem: 'the connection breaks', respond: () => Promise.reject(new TypeError('fetch failed')) },
  { problem: 'a proxy answers with HTML', respond: () => new Response('<html>502</html>', { status: 502 }) },
  { problem: 'a proxy answers with other JSON', respond: () => Response.json({ message: 'Bad gateway' }) },
  { problem: 'the JSON is null', respond: () => Response.json(null) },
])('throws an error without data, as client calls do, if $problem', async ({ respond }) => {
  const error: unknown = await upload({ file: pdf }, respond).catch((thrown: unknown) => thrown)

  expect(isWaybillError(error)).toBe(true)
  expect(error).toMatchObject({ data: undefined, cause: expect.any(Error) })
})

test('throws an error with the code of the server', async () => {
  const body = { success: false, error: { code: 'SERVICE_UNAVAILABLE', message: 'Try again.', field: 'file' } }
  const respond = () => Response.json(body, { status: 503, headers: { 'Retry-After': '1' } })
  const error: unknown = await upload({ file: pdf }, respond).catch((thrown: unknown) => thrown)

  expect(isWaybillError(error)).toBe(true)
  expect(error).toMatchObject({
    message: 'Try again.',
    data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, field: 'file', retryAfterSeconds: 1 },
  })
})
