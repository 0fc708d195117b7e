import createClient from 'openapi-fetch'
import type { paths } from './generated/waybill.ts'

// The types must reject each line that follows a directive; an unused directive is an error.

const client = createClient<paths>({ baseUrl: 'http://localhost' })
const body = { to: '34600111222', template: 'order_shipped', language: 'en' }

// @ts-expect-error: a phone number is a string
await client.POST('/api/v1/message/send', { body: { ...body, to: 34600111222 } })

// @ts-expect-error: `language` is required
await client.POST('/api/v1/message/send', { body: { to: body.to, template: body.template } })

// @ts-expect-error: values are strings
await client.POST('/api/v1/message/send', { body: { ...body, variables: { '1': 42 } } })

// @ts-expect-error: the path does not exist
await client.POST('/api/v1/messages/send', { body })

// @ts-expect-error: the status does not exist
await client.GET('/api/v1/message', { params: { query: { status: 'gone' } } })

// @ts-expect-error: there is no such event type
await client.GET('/api/v1/event', { params: { query: { type: 'message.gone' } } })

const { data } = await client.POST('/api/v1/message/send', { body })

// @ts-expect-error: a success has its message in `data.data`
data?.messageId
