import { createClient } from './generated/hey-api/client/index.js'
import { listEvents, listMessages, sendMessage, uploadMedia } from './generated/hey-api/index.js'
import { printReport } from './report.js'

await printReport((apiKey) => {
  const client = createClient({ baseUrl: process.env['WAYBILL_URL'], auth: apiKey })
  return {
    send: async (to, template, idempotencyKey) => {
      const { data, error, response } = await sendMessage({
        client,
        headers: { 'Idempotency-Key': idempotencyKey },
        body: { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } },
      })
      if (data) return { messageId: data.data.messageId }
      if (!response) throw new Error('no response')
      return { status: response.status, code: error.error.code, retryAfter: response.headers.get('Retry-After') }
    },
    upload: async (file, filename) => {
      const { data } = await uploadMedia({ client, body: { file, filename }, throwOnError: true })
      return data.data.mediaId
    },
    listMessages: async (cursor) => {
      const { data } = await listMessages({ client, query: { cursor, limit: 2 }, throwOnError: true })
      return { ids: data.data.items.map(({ messageId }) => messageId), nextCursor: data.data.nextCursor }
    },
    listEvents: async (cursor) => {
      const { data } = await listEvents({ client, query: { cursor, limit: 2 }, throwOnError: true })
      return { ids: data.data.items.map(({ eventId }) => eventId), nextCursor: data.data.nextCursor }
    },
  }
})
