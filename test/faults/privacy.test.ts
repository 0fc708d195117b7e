import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { hasData } from '../../src/cli/account-data/remove.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import { verifyAudit } from '../../src/users/audit/verify.ts'
import { findFilesWith } from '../support/find-text.ts'
import { createCustomer, openApp } from './customer.ts'
import { openScene } from './scene.ts'
import { folderForTest } from '../support/lifetime.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')
const number = '34600111222'

const { simulator, environment, app, accountId } = await openScene()

function start(args: string[], env: Record<string, string> = environment): ChildProcess {
  return spawn(process.execPath, [entry, ...args], { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' })
}

async function finish(args: string[], env?: Record<string, string>): Promise<void> {
  const child = start(args, env)
  await once(child, 'exit')
  expect(child.exitCode).toBe(0)
}

async function kill(command: ChildProcess): Promise<void> {
  if (command.exitCode !== null) return
  const exited = once(command, 'exit')
  command.kill('SIGKILL')
  await exited
}

async function insertMessages(db: Kysely<Database>, account: string, count: number): Promise<void> {
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at, wa_message_id, external_id)
    select ${account}, 'msg_' || lpad(i::text, 26, '0'), 'wa_1', 'sent', ${number}, 'order_shipped', 'en', now(),
      'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI' || i, 'for +' || ${number}
    from generate_series(1, ${count}::integer) i`.execute(db)
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select account_id, 'evt_' || substr(id, 5), 'message.sent', id,
      replace(jsonb_build_object('to', to_number, 'waMessageId', wa_message_id)::text, '": "', '":"'), created_at
    from messages where account_id = ${account}`.execute(db)
  await sql`
    insert into api_requests (account_id, id, method, path, status, error_code, duration_ms, key_start, address,
      external_id, request)
    select ${account}, 'req_' || lpad(to_hex(i), 12, '0') || '_1', 'POST', '/api/v1/message/send', 400,
      'VALIDATION_ERROR', 1, 'wb_live_000000', '192.0.2.1', 'for +' || ${number}, '{"to":"' || ${number} || '"}'
    from generate_series(1, 3000) i`.execute(db)
}

async function countMessagesTo(recipient: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from messages where to_number = ${recipient}`.execute(app.deps.db)
  return rows[0]?.count ?? 0
}

/** Locks the last row of a table of the account, so that no command can end before the block does. */
async function lockLastRow(table: 'messages' | 'events'): Promise<AsyncDisposable> {
  const trx = await app.deps.db.startTransaction().execute()
  await sql`
    select from ${sql.table(table)} where account_id = ${accountId} order by id desc limit 1 for update`.execute(trx)
  return { [Symbol.asyncDispose]: () => trx.rollback().execute() }
}

test('erases the rest of a number after the command was killed', async () => {
  const messages = 3_000
  await insertMessages(app.deps.db, accountId, messages)
  {
    await using _lock = await lockLastRow('messages')
    const command = start(['recipient', 'erase', number])
    await expect.poll(() => countMessagesTo('erased')).toBeGreaterThan(0)
    await kill(command)
  }
  expect(await countMessagesTo(number)).toBeGreaterThan(0)
  // A message and its related rows are erased together.
  const { rows: half } = await sql`
    select from messages m join events e on e.message_id = m.id
    where m.to_number = 'erased' and (m.wa_message_id <> '' or e.payload like ${`%${number}%`} or e.payload like '%wamid%')`.execute(
    app.deps.db,
  )
  expect(half).toEqual([])

  await finish(['recipient', 'erase', number])

  const { rows: left } = await sql`
    select from messages where to_number <> 'erased' or wa_message_id <> '' or external_id <> 'for erased'
    union all
    select from events where payload like ${`%${number}%`} or payload like '%wamid%'
    union all
    select from api_requests r where r::text like ${`%${number}%`}`.execute(app.deps.db)
  expect(left).toEqual([])
  expect(await countMessagesTo('erased')).toBe(messages)
  expect(await verifyAudit(app.deps, accountId)).toMatchObject({ ok: true })
})

test('removes the rest of an account after the command was killed', async () => {
  const isSuspended = async () => {
    const found = await app.deps.db.selectFrom('accounts').select('suspended_at').where('id', '=', accountId).execute()
    return found[0] !== undefined && found[0].suspended_at !== null
  }
  {
    await using _lock = await lockLastRow('events')
    const command = start(['account', 'remove', accountId, '--confirm', accountId])
    await expect.poll(isSuspended).toBe(true)
    await kill(command)
  }
  expect(await hasData(app.deps.db, accountId)).toBe(true)

  await finish(['account', 'remove', accountId, '--confirm', accountId])

  expect(await hasData(app.deps.db, accountId)).toBe(false)
})

test('erases a number from the files of an embedded database whose server was killed', async () => {
  const folder = await folderForTest()
  const embedded = { WAYBILL_DATA_DIR: folder, GRAPH_API_URL: simulator.url, PORT: '0', LOG_LEVEL: 'warn' }
  const before = openApp(embedded)
  const customer = await createCustomer(before, simulator)
  await insertMessages(before.deps.db, customer.accountId, 10_000)
  await before.close()
  const server = start(['serve'], embedded)
  await expect.poll(() => readdir(folder)).toContain('control.sock')
  const command = start(['recipient', 'erase', number], embedded)
  await expect.poll(() => findFilesWith(folder, '"to":"erased"'), { interval: 50 }).not.toEqual([])
  server.kill('SIGKILL')
  await Promise.all([once(server, 'exit'), once(command, 'exit')])
  expect(await findFilesWith(folder, number)).not.toEqual([])

  await finish(['recipient', 'erase', number, '--rewrite'], embedded)

  expect(await findFilesWith(folder, number)).toEqual([])
  expect(await findFilesWith(folder, 'MzQ2MDAxMTEyMj')).toEqual([])
})
