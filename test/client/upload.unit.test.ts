import { expect, test } from 'vitest'
import { type MediaToUpload, uploadMedia } from '../../src/client/client.ts'

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
