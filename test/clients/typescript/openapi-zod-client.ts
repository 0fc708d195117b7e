import { isErrorFromAlias } from '@zodios/core'
import { isAxiosError } from 'axios'
import { api, createApiClient } from './generated/openapi-zod-client.js'
import { printReport } from './report.js'

await printReport((apiKey) => {
  const client = createApiClient(process.env['WAYBILL_URL'] ?? '', {
    // By default, the client refuses an invalid request itself, and the program asks for the server's answer.
    validate: 'response',
    axiosConfig: { headers: { 'X-API-Key': apiKey } },
  })
  return {
    send: async (to, template, idempotencyKey) => {
      const body = { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }
      try {
        const { data } = await client.sendMessage(body, { headers: { 'Idempotency-Key': idempotencyKey } })
        return { messageId: data.messageId }
      } catch (error) {
        if (!isErrorFromAlias(api.api, 'sendMessage', error)) throw error
        const { status, data, headers } = error.response
        return { status, code: data.error.code, retryAfter: headers['retry-after'] ?? null }
      }
    },
    upload: async (file, filename) =>
      (await client.uploadMedia({ file: new File([file], filename), filename })).data.mediaId,
    listMessages: async (cursor) => {
      const { data } = await client.listMessages({ queries: { cursor, limit: 2 } })
      return { ids: data.items.map(({ messageId }) => messageId), nextCursor: data.nextCursor }
    },
    listEvents: async (cursor) => {
      const { data } = await client.listEvents({ queries: { cursor, limit: 2 } })
      return { ids: data.items.map(({ eventId }) => eventId), nextCursor: data.nextCursor }
    },
  }
})
