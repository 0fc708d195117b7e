import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { createAccount, updateAccount } from '../../src/accounts/account.ts'
import { generateKey } from '../../src/accounts/api-key.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { type App, buildApp } from '../../src/app.ts'
import { writeMoveMarker } from '../../src/cli/move/marker.ts'
import { sortByReferences } from '../../src/cli/move/tables.ts'
import { getMessageContent } from '../../src/messages/contents/contents.ts'
import { send } from '../../src/messages/send/send.ts'
import { readConfig } from '../../src/platform/config.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { adminUrl } from '../support/database.ts'
import { query, run as runStatement, withDatabase } from '../support/postgres.ts'
import { runHere } from '../cli/run-command.ts'
import { createEmbeddedInstallation, type Installation } from '../cli/installation.ts'

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(() => simulator.stop())

const databases: string[] = []
afterAll(async () => {
  for (const name of databases) await runStatement(adminUrl(), `drop database ${name} with (force)`)
})

async function createTarget(): Promise<string> {
  const name = `waybill_move_${randomBytes(6).toString('hex')}`
  await runStatement(adminUrl(), `create database ${name}`)
  databases.push(name)
  return withDatabase(adminUrl(), name)
}

const request = (reference: string) => ({ ...sendMessage.example.input, externalId: reference })

function openApp(environment: NodeJS.ProcessEnv): App {
  return buildApp(readConfig(environment), { log: pino({ level: 'silent' }) })
}

/** An embedded installation with an account that has sent a message, filled in this process to save time. */
async function createFilled(): Promise<{ waybill: Installation; accountId: string; whatsAppAccountId: string }> {
  const more = { GRAPH_API_URL: simulator.url, WEBHOOK_ALLOW_PRIVATE: 'true' }
  const waybill = await createEmbeddedInstallation(more, { fresh: true })
  const app = openApp(waybill.environment)
  const { deps } = app
  await migrate(deps.db)
  const { accountId } = await createAccount(deps, { name: 'Ada & Co ✓' })
  await generateKey(deps, accountId)
  await updateAccount(deps, accountId, { messageContentsDays: 30 })
  const { phoneNumberId, wabaId, accessToken } = simulator
  const number = { phoneNumberId, wabaId, accessToken, unverified: true }
  const { whatsAppAccountId } = await addWhatsAppAccount(deps, accountId, number)
  await syncTemplates(deps, accountId)
  await addEndpoint(deps, accountId, { url: 'http://127.0.0.1:9/hook', events: ['message.sent'] })
  await send(deps, { accountId }, request('before'), 'before')
  await app.close()
  return { waybill, accountId, whatsAppAccountId }
}

/** Inserts messages directly, because sending so many takes too long. */
async function insertMessages({ dataDir }: Installation, accountId: string, count: number): Promise<void> {
  const db = openDatabase({ kind: 'pglite', dataDir }, pino({ level: 'silent' }))
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at, sent_at)
    select ${accountId}, 'msg_' || lpad(i::text, 26, '0'), 'wa_1', 'sent', '34600111222', 'order_shipped', 'en',
      now() - i * interval '1 second', clock_timestamp()
    from generate_series(1, ${count}::integer) i`.execute(db)
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select account_id, 'evt_' || substr(id, 5), 'message.sent', id, '{"ünï":"' || repeat('x', 300) || '"}', created_at
    from messages`.execute(db)
  await db.destroy()
}

/** The last one of `insertMessages`: no command can copy the page with it before the client ends. */
async function holdMessage(url: string, accountId: string, index: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await client.query(
    `insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    values ($1, 'msg_' || lpad($2, 26, '0'), 'wa_1', 'sent', '34600111222', 'order_shipped', 'en', now())`,
    [accountId, String(index)],
  )
  return client
}

describe('waybill move', () => {
  test('moves the embedded database with its keys, secrets and idempotency keys', async () => {
    const { waybill, accountId } = await createFilled()
    const url = await createTarget()

    const moved = await runHere(['move', '--to', url, '--json'], waybill.environment)

    expect(moved).toMatchObject({ exitCode: 0, stderr: '' })
    const { tables, secrets, secretKeyFile } = JSON.parse(moved.stdout) as {
      tables: { name: string; rows: number }[]
      secrets: number
      secretKeyFile: string
    }
    expect(tables).toContainEqual({ name: 'messages', rows: 1 })
    expect(tables).toContainEqual({ name: 'events', rows: 1 })
    expect(secrets).toBe(2)
    expect(await readFile(secretKeyFile, 'utf8')).toMatch(/^[\w+/=]{44}\n$/)
    const refused = await waybill.run(['serve'])
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was moved to') })
    expect((await runHere(['account', 'list'], waybill.environment)).stderr).toContain('Set DATABASE_URL')

    const environment = { ...waybill.environment, DATABASE_URL: url, WAYBILL_SECRET_KEY_FILE: secretKeyFile }
    const app = openApp(environment)
    const onReplay = vi.fn<() => void>()
    const { messageId } = await send(app.deps, { accountId, onReplay }, request('before'), 'before')
    expect(onReplay).toHaveBeenCalledOnce()
    expect(await getMessageContent(app.deps, { accountId, messageId })).toMatchObject({
      state: 'stored',
      content: { values: { variables: request('before').variables } },
    })
    await send(app.deps, { accountId, onReplay }, request('after'), 'after')
    expect(onReplay).toHaveBeenCalledOnce()
    await app.close()
    const { items } = await waybill.json(['message', 'list', accountId], { env: environment })
    expect(items.map(({ externalId, status }) => [externalId, status])).toEqual([
      ['after', 'sent'],
      ['before', 'sent'],
    ])
    expect(await waybill.json(['migrate'], { env: environment })).toEqual({ applied: [] })
    await waybill.remove()
  })

  test('continues after it was killed, and makes both databases unusable until then', async () => {
    const { waybill, accountId } = await createFilled()
    await insertMessages(waybill, accountId, 40_000)
    const url = await createTarget()
    const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')
    const env = { ...waybill.environment, DATABASE_LOCK_TIMEOUT: '8s' }
    const child = spawn(process.execPath, [entry, 'move', '--to', url], { env, stdio: 'ignore' })
    const closed = once(child, 'close')
    const hasBegun = () =>
      query(url, `select from waybill_move where leaf <> ''`).then(
        (copied) => copied.length > 0,
        () => false,
      )
    await expect.poll(hasBegun).toBe(true)
    const blocker = await holdMessage(url, accountId, 40_000)
    const countCopied = async () => {
      const [row] = await query<{ rows: number }>(url, 'select count(*)::integer as rows from messages').catch(() => [])
      return row?.rows ?? 0
    }
    await expect.poll(countCopied).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await closed
    await blocker.end()
    const copied = await countCopied()
    expect(copied).toBeLessThan(40_000)

    const here = waybill.environment
    expect(await runHere(['account', 'list'], here)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is being moved to'),
    })
    const there = { ...here, DATABASE_URL: url, WAYBILL_SECRET_KEY_FILE: path.join(waybill.dataDir, 'secret.key') }
    const unfinished = expect.stringContaining('the target of an unfinished move')
    expect(await waybill.run(['serve'], { env: there })).toMatchObject({ exitCode: 1, stderr: unfinished })
    expect(await runHere(['account', 'list'], there)).toMatchObject({ exitCode: 1, stderr: unfinished })
    const other = await runHere(['move', '--to', await createTarget()], here)
    expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('waybill move --cancel') })

    const moved = await runHere(['move', '--to', url, '--json'], here)

    expect(moved).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(moved.stdout)).toMatchObject({
      tables: expect.arrayContaining([{ name: 'messages', rows: 40_001 }]),
    })
    const [counted] = await query(
      url,
      `select (select count(*)::integer from messages) as messages, (select count(*)::integer from events) as events,
        to_regclass('waybill_move') as left`,
    )
    expect(counted).toEqual({ messages: 40_001, events: 40_002, left: null })
    // A second move changes nothing.
    expect(await runHere(['move', '--to', url], here)).toMatchObject({ exitCode: 0 })
    await waybill.remove()
  })

  test('rejects a target with data and an invalid target', async () => {
    const { waybill } = await createFilled()
    const here = waybill.environment
    const full = await createTarget()
    const there = { ...here, DATABASE_URL: full, WAYBILL_SECRET_KEY: randomBytes(32).toString('base64') }
    await runHere(['migrate'], there)
    await waybill.json(['account', 'create', '--name', 'Other'], { env: there })

    expect(await runHere(['move', '--to', full], here)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('already holds data (in accounts)'),
    })
    expect(existsSync(path.join(waybill.dataDir, 'move.json'))).toBe(false)
    expect(await runHere(['move', '--cancel'], here)).toMatchObject({
      exitCode: 1,
      stderr: 'There is no unfinished move.\n',
    })
    expect(await runHere(['move'], here)).toMatchObject({ exitCode: 2 })
    expect(await runHere(['move', '--to', 'mysql://x'], here)).toMatchObject({ exitCode: 2 })
    expect(await runHere(['move', '--to', full], there)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no embedded database to move'),
    })
    await waybill.remove()
  })

  test('fails while a server runs, and lets the server start again after a cancelled move', async () => {
    const { waybill } = await createFilled()
    const here = waybill.environment
    const server = await waybill.serve()
    expect(await runHere(['move', '--to', await createTarget()], here)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Stop it first'),
    })
    await server.stop()

    writeMoveMarker(waybill.dataDir, { moveId: 'a', state: 'moving', target: 'db.example.com/waybill', startedAt: '' })
    expect((await runHere(['account', 'list'], here)).stderr).toContain('is being moved to db.example.com/waybill')
    expect(await runHere(['move', '--cancel'], here)).toMatchObject({ exitCode: 0 })
    expect(await runHere(['account', 'list'], here)).toMatchObject({ exitCode: 0 })
    await waybill.remove()
  })
})

function table(name: string, ...references: string[]) {
  return { name, references }
}

test('copies a table after the tables that it references', () => {
  const sorted = sortByReferences([
    table('keys', 'accounts'),
    table('roles', 'keys', 'owners'),
    table('accounts'),
    table('owners'),
  ])

  expect(sorted.map(({ name }) => name)).toEqual(['accounts', 'owners', 'keys', 'roles'])
  expect(() => sortByReferences([table('a', 'b'), table('b', 'a')])).toThrow('are circular')
})
