import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import pg from 'pg'
import { z } from 'zod'
import { hashApiKey } from '../../src/accounts/api-key.ts'
import { accessTokenPurpose } from '../../src/whatsapp-accounts/secrets.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'

/**
 * Process: the baseline. The send endpoint as a competent developer writes it first, with common libraries and their
 * defaults: Fastify, pg, zod and global fetch, without batching. It has the same schema, requests and responses as
 * Waybill and is not tuned in either direction.
 */

const env = z
  .object({
    DATABASE_URL: z.string(),
    GRAPH_API_URL: z.string(),
    WAYBILL_SECRET_KEY: z.string(),
    LOG_LEVEL: z.string(),
  })
  .parse(process.env)

const SendRequest = z.strictObject({
  to: z.string().regex(/^[1-9][0-9]{6,14}$/),
  template: z.string().min(1).max(512),
  language: z.string().regex(/^[a-z]{2,3}(_[A-Z]{2})?$/),
  variables: z.record(z.string(), z.string()).default({}),
  externalId: z.string().min(1).max(255).optional(),
  accountId: z.string().min(1).max(64).optional(),
})

const GraphResponse = z.object({ messages: z.array(z.object({ id: z.string() })).min(1) })

class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const pool = new pg.Pool({ connectionString: env.DATABASE_URL })
const secrets = createSecretBox([Buffer.from(env.WAYBILL_SECRET_KEY, 'base64')], () => Buffer.alloc(0))
const app = fastify({ logger: { level: env.LOG_LEVEL } })

interface CallerRow {
  id: string
  api_enabled: boolean
  allow_list: string[]
  rate_limit_per_minute: number
}

async function authenticate(apiKey: unknown, address: string): Promise<CallerRow> {
  if (typeof apiKey !== 'string') throw new Refusal(401, 'INVALID_API_KEY', 'An API key is required.')
  const { rows } = await pool.query<CallerRow>(
    `select a.id, a.api_enabled, a.allow_list, a.rate_limit_per_minute
     from api_keys k join accounts a on a.id = k.account_id where k.key_hash = $1`,
    [Buffer.from(hashApiKey(apiKey), 'hex')],
  )
  const caller = rows[0]
  if (!caller) throw new Refusal(401, 'INVALID_API_KEY', 'Invalid API key.')
  if (!caller.api_enabled) throw new Refusal(403, 'API_DISABLED', 'API access is disabled for this account.')
  if (caller.allow_list.length > 0 && !caller.allow_list.includes(address))
    throw new Refusal(403, 'IP_NOT_ALLOWED', 'Requests from this address are not allowed.')
  return caller
}

async function spend(caller: CallerRow): Promise<void> {
  const { rows } = await pool.query<{ used: number }>(
    `insert into rate_limits as r (account_id, window_started_at, used) values ($1, date_trunc('minute', now()), 1)
     on conflict (account_id) do update set
       used = case when r.window_started_at = excluded.window_started_at then r.used + 1 else 1 end,
       window_started_at = excluded.window_started_at
     returning used`,
    [caller.id],
  )
  if ((rows[0]?.used ?? 0) > caller.rate_limit_per_minute)
    throw new Refusal(429, 'RATE_LIMIT_EXCEEDED', `At most ${caller.rate_limit_per_minute} requests per minute.`)
}

interface SenderRow {
  id: string
  phone_number_id: string
  access_token_encrypted: string
  active: boolean
  template_status: string | null
  components: { type: string; text?: string }[]
}

async function findSender(caller: CallerRow, input: z.infer<typeof SendRequest>): Promise<SenderRow> {
  const { rows } = await pool.query<SenderRow>(
    `select wa.id, wa.phone_number_id, wa.access_token_encrypted, wa.active, t.status as template_status, t.components
     from whatsapp_accounts wa
     left join templates t
       on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = $2 and t.language = $3
     where wa.account_id = $1 and ($4::text is null and wa.is_default or wa.id = $4)`,
    [caller.id, input.template, input.language, input.accountId ?? null],
  )
  const sender = rows[0]
  if (!sender?.active) throw new Refusal(400, 'NO_ACTIVE_ACCOUNT', 'No active WhatsApp account can be used.')
  if (sender.template_status !== 'APPROVED')
    throw new Refusal(404, 'TEMPLATE_NOT_FOUND', 'No approved template has this name and language.')
  return sender
}

function fillIn(sender: SenderRow, variables: Record<string, string>): { type: 'text'; text: string }[] {
  const body = sender.components.find((component) => component.type === 'BODY')?.text ?? ''
  const keys = new Set(Array.from(body.matchAll(/\{\{(\d+)\}\}/g), ([, key]) => key ?? ''))
  return [...keys].map((key) => {
    const text = variables[key]
    if (text === undefined) throw new Refusal(400, 'VALIDATION_ERROR', `variables: "${key}" is missing.`)
    return { type: 'text', text }
  })
}

app.post('/api/v1/message/send', async (request) => {
  const caller = await authenticate(request.headers['x-api-key'], request.ip)
  await spend(caller)
  const input = SendRequest.parse(request.body)
  const sender = await findSender(caller, input)
  const parameters = fillIn(sender, input.variables)
  const messageId = `msg_${randomUUID()}`
  await pool.query(
    `insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
       external_id, created_at)
     values ($1, $2, $3, 'pending', $4, $5, $6, $7, now())`,
    [caller.id, messageId, sender.id, input.to, input.template, input.language, input.externalId],
  )
  const response = await fetch(`${env.GRAPH_API_URL}/v25.0/${sender.phone_number_id}/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secrets.decrypt(sender.access_token_encrypted, accessTokenPurpose(sender.id))}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: `+${input.to}`,
      type: 'template',
      biz_opaque_callback_data: messageId,
      template: {
        name: input.template,
        language: { code: input.language },
        components: [{ type: 'body', parameters }],
      },
    }),
  })
  if (!response.ok) {
    await pool.query(`update messages set status = 'failed', failed_at = now() where account_id = $1 and id = $2`, [
      caller.id,
      messageId,
    ])
    throw new Refusal(422, 'MESSAGE_REJECTED', 'WhatsApp rejected this message.')
  }
  const acceptance = GraphResponse.parse(await response.json())
  const waMessageId = acceptance.messages[0]?.id
  await pool.query(
    `update messages set status = 'sent', wa_message_id = $3, sent_at = now() where account_id = $1 and id = $2`,
    [caller.id, messageId, waMessageId],
  )
  return {
    success: true,
    data: {
      messageId,
      waMessageId,
      status: 'sent',
      to: input.to,
      template: input.template,
      externalId: input.externalId,
    },
  }
})

app.setErrorHandler((error, request, reply) => {
  if (error instanceof z.ZodError)
    return reply.code(400).send({ success: false, error: { code: 'VALIDATION_ERROR', message: error.message } })
  if (error instanceof Refusal)
    return reply.code(error.status).send({ success: false, error: { code: error.code, message: error.message } })
  request.log.error(error)
  return reply.code(500).send({ success: false, error: { code: 'INTERNAL_ERROR', message: 'Something failed.' } })
})

console.log(`listens on ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
