import { isAxiosError } from 'axios'
import { Configuration, EventsApi, MediaApi, MessagesApi } from './generated/typescript-axios/index.js'
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
      const request = { to, template, language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }
      try {
        const { data } = await messages.sendMessage(request, idempotencyKey)
        return { messageId: data.data.messageId }
      } catch (error) {
        if (!isAxiosError(error) || !error.response) throw error
        const { status, data, headers } = error.response
        return { status, code: data.error.code, retryAfter: headers['retry-after'] }
      }
    },
    upload: async (file, filename) => (await media.uploadMedia(new File([file], filename), filename)).data.data.mediaId,
    listMessages: async (cursor) => {
      const filters = [undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined] as const
      const { items, nextCursor } = (await messages.listMessages(...filters, cursor, 2)).data.data
      return { ids: items.map(({ messageId }) => messageId), nextCursor }
    },
    listEvents: async (cursor) => {
      const filters = [undefined, undefined, undefined, undefined] as const
      const { items, nextCursor } = (await events.listEvents(...filters, cursor, 2)).data.data
      return { ids: items.map(({ eventId }) => eventId), nextCursor }
    },
  }
})
