import { listEvents, listMessages, sendMessage, uploadMedia } from './generated/orval.js'
import { printReport } from './report.js'

// orval's client has paths only; its base address belongs to the generator's options, which a test does not know.
const base = process.env['WAYBILL_URL'] ?? ''
const { fetch } = globalThis
globalThis.fetch = (input, init) =>
  fetch(typeof input === 'string' && input.startsWith('/') ? base + input : input, init)

await printReport((apiKey) => {
  const headers = { 'X-API-Key': apiKey }
  return {
    send: async (to, template, idempotencyKey) => {
      const body = { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }
      const repeatable = idempotencyKey === undefined ? headers : { ...headers, 'Idempotency-Key': idempotencyKey }
      const answer = await sendMessage(body, { headers: repeatable })
      if (answer.status === 200) return { messageId: answer.data.data.messageId }
      const retryAfter = answer.headers.get('Retry-After')
      return { status: answer.status, code: answer.data.error.code, retryAfter }
    },
    upload: async (file, filename) => {
      const answer = await uploadMedia({ file, filename }, { headers })
      if (answer.status !== 200) throw new Error(answer.data.error.code)
      return answer.data.data.mediaId
    },
    listMessages: async (cursor) => {
      const answer = await listMessages({ cursor, limit: 2 }, { headers })
      if (answer.status !== 200) throw new Error(answer.data.error.code)
      const { items, nextCursor } = answer.data.data
      return { ids: items.map(({ messageId }) => messageId), nextCursor }
    },
    listEvents: async (cursor) => {
      const answer = await listEvents({ cursor, limit: 2 }, { headers })
      if (answer.status !== 200) throw new Error(answer.data.error.code)
      const { items, nextCursor } = answer.data.data
      return { ids: items.map(({ eventId }) => eventId), nextCursor }
    },
  }
})
