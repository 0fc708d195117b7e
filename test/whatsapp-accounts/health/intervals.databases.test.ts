import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { checkDueAccounts } from '../../../src/whatsapp-accounts/health/check.ts'
import { measureTraffic } from '../../../src/whatsapp-accounts/health/traffic.ts'
import { syncDueTemplates } from '../../../src/templates/sync.ts'
import { sendOne } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

/** More than two claims of each check hold. */
const count = 130

const server = await forFile(startTestServer())
const account = await server.account()
const numbers = sql`generate_series(1, ${count}::integer) n`
await sql`insert into whatsapp_accounts (id, account_id, phone_number_id, waba_id, access_token_encrypted, is_default)
  select 'wa_' || n, ${account.accountId}, 'number_' || n, 'waba_' || n, access_token_encrypted, false
  from whatsapp_accounts, ${numbers} where id = ${account.whatsAppAccountId}`.execute(server.deps.db)
await sql`insert into whatsapp_account_health (whatsapp_account_id, account_id)
  select 'wa_' || n, ${account.accountId} from ${numbers}`.execute(server.deps.db)

async function countDue(column: 'next_check_at' | 'next_traffic_at'): Promise<number> {
  const { rows } = await sql<{ due: number }>`
    select count(*)::integer as due from whatsapp_account_health where ${sql.ref(column)} <= now()`.execute(
    server.deps.db,
  )
  return rows[0]?.due ?? 0
}

test('checks every account that is due in one pass, each of them on one node', async () => {
  const [first, second] = await Promise.all([checkDueAccounts(server.deps), checkDueAccounts(server.deps)])
  const checked = [...first, ...second].map(({ whatsAppAccountId }) => whatsAppAccountId)

  expect(checked.filter((id) => /^wa_\d+$/.test(id))).toHaveLength(count)
  expect(new Set(checked).size).toBe(checked.length)
  expect(await countDue('next_check_at')).toBe(0)
})

test('counts the messages of every account that is due in one pass', async () => {
  await sendOne(account)
  await sql`update whatsapp_account_health set next_traffic_at = now() - interval '1 minute', traffic = null`.execute(
    server.deps.db,
  )

  expect(await measureTraffic(server.deps)).toBeGreaterThan(count)
  expect(await countDue('next_traffic_at')).toBe(0)
  const { rows } = await sql<{ id: string; sent: number }>`
    select whatsapp_account_id as id, (traffic->>'sent')::integer as sent from whatsapp_account_health
    where account_id = ${account.accountId} and (traffic->>'sent')::integer > 0`.execute(server.deps.db)
  expect(rows).toEqual([{ id: account.whatsAppAccountId, sent: 1 }])
})

test('syncs the templates of every WhatsApp Business Account that is due in one pass', async () => {
  await sql`update whatsapp_accounts set next_sync_at = now(), inactive_reason = null
    where account_id = ${account.accountId}`.execute(server.deps.db)
  expect(await syncDueTemplates(server.deps)).toBeGreaterThan(count)
})

test('claims no more accounts once the process stops, and completes those that it has claimed', async () => {
  await sql`update whatsapp_account_health set next_check_at = now() - interval '1 minute'`.execute(server.deps.db)
  // Claimed first: the others have no readable token, so checking them sends no request that could stop the process.
  await sql`update whatsapp_account_health set next_check_at = now() - interval '1 hour'
    where whatsapp_account_id = ${account.whatsAppAccountId}`.execute(server.deps.db)
  const due = await countDue('next_check_at')
  expect(due).toBeGreaterThan(count)
  const stopping = new AbortController()
  server.simulator.intercept(() => {
    stopping.abort()
    return undefined
  })

  const checked = await checkDueAccounts(server.deps, stopping.signal)

  server.simulator.intercept(undefined)
  const left = await countDue('next_check_at')
  expect(left).toBeGreaterThan(0)
  expect(checked).toHaveLength(due - left)
})
