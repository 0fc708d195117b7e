import createClient from 'openapi-fetch'
import type { paths } from './generated/waybill.js'
import { printReport } from './report.js'

await printReport((apiKey) => {
  const client = createClient<paths>({ baseUrl: process.env['WAYBILL_URL'], headers: { 'X-API-Key': apiKey } })
  return {
    send: async (to, template, idempotencyKey) => {
      const { data, error, response } = await client.POST('/api/v1/message/send', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } },
      })
      if (data) return { messageId: data.data.messageId }
      return { status: response.status, code: error.error.code, retryAfter: response.headers.get('Retry-After') }
    },
    upload: async (file, filename) => {
      const { data } = await client.POST('/api/v1/media/upload', {
        // The generated type of a file is text.
        body: { file: file as unknown as string, filename },
        bodySerializer: (fields) => {
          const form = new FormData()
          for (const [name, value] of Object.entries(fields)) form.append(name, value)
          return form
        },
      })
      if (!data) throw new Error('not stored')
      return data.data.mediaId
    },
    listMessages: async (cursor) => {
      const { data } = await client.GET('/api/v1/message', { params: { query: { cursor, limit: 2 } } })
      if (!data) throw new Error('no page')
      return { ids: data.data.items.map(({ messageId }) => messageId), nextCursor: data.data.nextCursor }
    },
    listEvents: async (cursor) => {
      const { data } = await client.GET('/api/v1/event', { params: { query: { cursor, limit: 2 } } })
      if (!data) throw new Error('no page')
      return { ids: data.data.items.map(({ eventId }) => eventId), nextCursor: data.data.nextCursor }
    },
  }
})
