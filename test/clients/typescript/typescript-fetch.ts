import { Configuration, EventsApi, MediaApi, MessagesApi, ResponseError } from './generated/typescript-fetch/index.js'
import { printReport } from './report.js'

await printReport((apiKey) => {
  const configuration = new Configuration({ basePath: process.env['WAYBILL_URL'], apiKey })
  const [messages, events, media] = [
    new MessagesApi(configuration),
    new EventsApi(configuration),
    new MediaApi(configuration),
  ]
  return {
    send: async (to, template, idempotencyKey) => {
      const sendMessageRequest = { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }
      try {
        const { data } = await messages.sendMessage({ sendMessageRequest, idempotencyKey })
        return { messageId: data.messageId }
      } catch (error) {
        if (!(error instanceof ResponseError)) throw error
        const { status, headers } = error.response
        const { code } = (await error.response.json()).error
        return { status, code, retryAfter: headers.get('Retry-After') }
      }
    },
    upload: async (file, filename) => (await media.uploadMedia({ file, filename })).data.mediaId,
    listMessages: async (cursor) => {
      const { data } = await messages.listMessages({ cursor, limit: 2 })
      return { ids: data.items.map(({ messageId }) => messageId), nextCursor: data.nextCursor }
    },
    listEvents: async (cursor) => {
      const { data } = await events.listEvents({ cursor, limit: 2 })
      return { ids: data.items.map(({ eventId }) => eventId), nextCursor: data.nextCursor }
    },
  }
})
