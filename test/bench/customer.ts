import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { createAccount } from '../../src/accounts/account.ts'
import { generateKey } from '../../src/accounts/api-key.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { buildApp } from '../../src/app.ts'
import type { Deps } from '../../src/deps.ts'
import { readConfig } from '../../src/platform/config.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import { createLogger } from '../../src/platform/log.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { example } from './example.ts'
import type { Stage } from './stage.ts'
import type { RepeatedRequest } from './run-load.ts'

/** A migrated database with one customer without a rate limit. */
export interface Customer extends AsyncDisposable {
  /** The environment of a process that serves the customer. */
  environment: Record<string, string>
  deps: Deps
  accountId: string
  whatsAppAccountId: string
  /** The customer's send request to the server at this address. */
  sendThrough(url: string): RepeatedRequest
  /** Counts messages stored as sent with a WhatsApp message ID. */
  countSent(): Promise<number>
}

const unlimited = 2_000_000_000
export const phoneNumberId = '106540352242922'
export const appSecret = randomBytes(16).toString('hex')

export async function createCustomer(stage: Pick<Stage, 'createDatabase'>, upstreamUrl: string): Promise<Customer> {
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: await stage.createDatabase(),
    WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
    GRAPH_API_URL: upstreamUrl,
    META_APP_SECRET: appSecret,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'warn',
  }
  const app = buildApp(readConfig(environment), { log: createLogger('silent') })
  const { deps } = app
  await migrate(deps.db)
  const { accountId } = await createAccount(deps, { name: 'Bench' })
  await deps.db.updateTable('accounts').set({ rate_limit_per_minute: unlimited }).where('id', '=', accountId).execute()
  const { apiKey } = await generateKey(deps, accountId)
  const { whatsAppAccountId } = await addWhatsAppAccount(deps, accountId, {
    phoneNumberId,
    wabaId: '102290129340398',
    accessToken,
    // The stand-in for WhatsApp does not describe phone numbers.
    unverified: true,
  })
  await syncTemplates(deps, accountId)
  return {
    environment,
    deps,
    accountId,
    whatsAppAccountId,
    sendThrough: (url) => sendTarget(url, apiKey),
    countSent: async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer as count from messages
        where account_id = ${accountId} and status = 'sent' and wa_message_id is not null`.execute(deps.db)
      return rows[0]?.count ?? 0
    },
    [Symbol.asyncDispose]: () => app.close(),
  }
}

/** As long as Meta's tokens. */
const accessToken = randomBytes(100).toString('hex')

export function sendTarget(url: string, apiKey: string, path = '/api/v1/message/send'): RepeatedRequest {
  return {
    url,
    path,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(example),
  }
}
