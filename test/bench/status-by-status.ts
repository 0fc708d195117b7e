/**
 * Process: the baseline for callbacks. It handles callbacks as a competent developer writes it first, with common
 * libraries and their defaults: one transaction per status, from reading its message to inserting the deliveries of its
 * event. It has the same schema and rows as Waybill and is not tuned in either direction.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import fastify from 'fastify'
import pg from 'pg'
import { z } from 'zod'

const env = z
  .object({ DATABASE_URL: z.string(), META_APP_SECRET: z.string(), LOG_LEVEL: z.string() })
  .parse(process.env)

const Callback = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({
          value: z.object({
            metadata: z.object({ phone_number_id: z.string() }),
            statuses: z.array(
              z.object({
                id: z.string(),
                status: z.enum(['sent', 'delivered', 'read']),
                timestamp: z.coerce.number(),
                biz_opaque_callback_data: z.string(),
              }),
            ),
          }),
        }),
      ),
    }),
  ),
})
type Value = z.infer<typeof Callback>['entry'][number]['changes'][number]['value']
type Status = Value['statuses'][number]

interface MessageRow {
  status: string
  whatsapp_account_id: string
  to_number: string
  template_name: string
  template_language: string
  external_id: string | null
}

const order = ['pending', 'sent', 'failed', 'delivered', 'read']
const timeColumn = { sent: 'sent_at', delivered: 'delivered_at', read: 'read_at' } as const

const pool = new pg.Pool({ connectionString: env.DATABASE_URL })
const app = fastify({ logger: { level: env.LOG_LEVEL }, bodyLimit: 3 * 1024 * 1024 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

app.post('/webhooks/whatsapp', async (request, reply) => {
  const body = request.body as Buffer
  if (!isSigned(body, request.headers['x-hub-signature-256'])) return reply.code(401).send('wrong signature')
  for (const { changes } of Callback.parse(JSON.parse(body.toString())).entry)
    for (const { value } of changes) await applyStatuses(value)
  return 'ok'
})

function isSigned(body: Buffer, signature: unknown): boolean {
  const expected = `sha256=${createHmac('sha256', env.META_APP_SECRET).update(body).digest('hex')}`
  return (
    typeof signature === 'string' &&
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  )
}

async function applyStatuses({ metadata, statuses }: Value): Promise<void> {
  const { rows } = await pool.query<{ account_id: string }>(
    'select account_id from whatsapp_accounts where phone_number_id = $1',
    [metadata.phone_number_id],
  )
  const accountId = rows[0]?.account_id
  if (accountId !== undefined) for (const status of statuses) await takeStatus(accountId, status)
}

async function takeStatus(accountId: string, status: Status): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await applyStatus(client, accountId, status)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

async function applyStatus(client: pg.PoolClient, accountId: string, status: Status): Promise<void> {
  const messageId = status.biz_opaque_callback_data
  const { rows } = await client.query<MessageRow>(
    `select status, whatsapp_account_id, to_number, template_name, template_language, external_id
     from messages where account_id = $1 and id = $2 for update`,
    [accountId, messageId],
  )
  const message = rows[0]
  if (!message || order.indexOf(status.status) <= order.indexOf(message.status)) return
  const at = new Date(status.timestamp * 1000)
  await client.query(
    `update messages set status = $3, wa_message_id = $4, ${timeColumn[status.status]} = $5
     where account_id = $1 and id = $2`,
    [accountId, messageId, status.status, status.id, at],
  )
  const type = `message.${status.status}`
  const eventId = `evt_${randomUUID()}`
  const payload = JSON.stringify({
    type,
    timestamp: at.toISOString(),
    data: {
      messageId,
      waMessageId: status.id,
      to: message.to_number,
      template: message.template_name,
      language: message.template_language,
      accountId: message.whatsapp_account_id,
      externalId: message.external_id ?? undefined,
      status: status.status,
    },
  })
  await client.query(
    `insert into events (account_id, id, type, message_id, payload, created_at) values ($1, $2, $3, $4, $5, now())`,
    [accountId, eventId, type, messageId, payload],
  )
  const endpoints = await client.query<{ id: string }>(
    'select id from webhook_endpoints where account_id = $1 and $2 = any (events)',
    [accountId, type],
  )
  for (const endpoint of endpoints.rows)
    await client.query(
      `insert into webhook_deliveries (account_id, id, endpoint_id, event_id, due_at, created_at)
       values ($1, $2, $3, $4, now(), now())`,
      [accountId, `dlv_${randomUUID()}`, endpoint.id, eventId],
    )
}

console.log(`listens on ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
