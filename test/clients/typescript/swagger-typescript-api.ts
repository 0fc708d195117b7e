import { Api, type ErrorResponse, type HttpResponse } from './generated/swagger-typescript-api.js'
import { printReport } from './report.js'

await printReport((apiKey) => {
  const { api } = new Api({
    baseUrl: process.env['WAYBILL_URL'],
    securityWorker: () => ({ headers: { 'X-API-Key': apiKey } }),
  })
  return {
    send: async (to, template, idempotencyKey) => {
      const body = { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }
      // The generated method leaves headers out of its parameters.
      const headers = idempotencyKey === undefined ? undefined : { 'Idempotency-Key': idempotencyKey }
      try {
        return { messageId: (await api.sendMessage(body, { headers })).data.data.messageId }
      } catch (failed) {
        const { status, error, headers } = failed as HttpResponse<never, ErrorResponse>
        return { status, code: error.error.code, retryAfter: headers.get('Retry-After') }
      }
    },
    upload: async (file, filename) =>
      (await api.uploadMedia({ file: new File([file], filename), filename })).data.data.mediaId,
    listMessages: async (cursor) => {
      const { items, nextCursor } = (await api.listMessages({ cursor, limit: 2 })).data.data
      return { ids: items.map(({ messageId }) => messageId), nextCursor }
    },
    listEvents: async (cursor) => {
      const { items, nextCursor } = (await api.listEvents({ cursor, limit: 2 })).data.data
      return { ids: items.map(({ eventId }) => eventId), nextCursor }
    },
  }
})
