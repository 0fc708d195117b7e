import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runHere } from '../run-command.ts'
import { requireAccount } from '../../../src/accounts/account.ts'
import { exportAccount, exportedTables } from '../../../src/cli/account-data/export.ts'
import { hasData, removeAccount } from '../../../src/cli/account-data/remove.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { report, sendOne, status } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { recordStatements } from '../../support/record-statements.ts'
import { signedInOwner } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())

interface ExportedLine {
  type: string
  data: Record<string, unknown>
}

async function exportLines(accountId: string, db = server.deps.db): Promise<{ text: string; lines: ExportedLine[] }> {
  const texts: string[] = []
  for await (const page of exportAccount({ ...server.deps, db }, accountId)) texts.push(...page)
  return { text: texts.join('\n'), lines: texts.map((line) => JSON.parse(line) as ExportedLine) }
}

/** An account with rows in each kind of table. */
async function fillAccount(messages = 3): Promise<TestAccount & { secret: string }> {
  const account = await server.account({ rateLimit: 100_000 })
  const { secret } = await addEndpoint(server.deps, account.accountId, {
    url: 'http://127.0.0.1:9/',
    events: ['message.delivered'],
    headers: [['authorization', 'Bearer of the customer']],
  })
  for (let index = 0; index < messages; index += 1) {
    const { waMessageId } = await sendOne(account, { externalId: `order-${index}` })
    await report(server, account, [status('delivered', waMessageId)])
  }
  return { ...account, secret }
}

/** Tables that hold rows of the account. */
async function listTablesOf(accountId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(server.deps.db)
  const found: string[] = []
  for (const { name } of rows) {
    const { rows: own } = await sql`select from ${sql.table(name)} where account_id = ${accountId} limit 1`.execute(
      server.deps.db,
    )
    if (own.length > 0) found.push(name)
  }
  return found
}

test('decides for each table of an account whether it is exported', async () => {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and (c.relname = 'accounts' or exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id'
      ))`.execute(server.deps.db)

  // A new table: add it to src/cli/account-data/export.ts.
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(exportedTables).sort())
})

test('exports the data of one account without secrets', async () => {
  const account = await fillAccount()
  const other = await fillAccount(1)
  const owner = await signedInOwner(server, account.accountId)
  const filters = { status: 'failed', errorCode: '131026' }
  for (const [by, name] of [
    [owner, 'Not on WhatsApp'],
    [await signedInOwner(server, other.accountId), 'View of another account'],
  ] as const) {
    const { accountId } = by === owner ? account : other
    expect((await by.mutate('view.save', { accountId, name, filters })).statusCode).toBe(200)
  }

  await owner.mutate('suppression.add', { accountId: account.accountId, to: '34600000001' })

  const { text, lines } = await exportLines(account.accountId)

  const dataOf = (type: string) => lines.filter((line) => line.type === type).map(({ data }) => data)
  expect(dataOf('account')).toMatchObject([{ accountId: account.accountId, name: expect.any(String) }])
  expect(dataOf('whatsAppAccount')).toMatchObject([{ phoneNumberId: account.phoneNumberId }])
  expect(dataOf('webhookEndpoint')).toMatchObject([{ url: 'http://127.0.0.1:9/', hasHeaders: true }])
  expect(dataOf('member')).toMatchObject([{ email: owner.email, role: 'owner' }])
  expect(dataOf('savedView')).toEqual([
    { email: owner.email, name: 'Not on WhatsApp', filters, createdAt: expect.any(String) },
  ])
  expect(dataOf('suppression')).toMatchObject([{ to: '34600000001', suppressed: true, addedBy: owner.email }])
  expect(dataOf('message')[0]).toMatchObject({ pricing: 'utility' })
  expect(dataOf('template').length).toBeGreaterThan(3)
  expect(dataOf('message').map(({ externalId, status: state }) => [externalId, state])).toEqual([
    ['order-0', 'delivered'],
    ['order-1', 'delivered'],
    ['order-2', 'delivered'],
  ])
  expect(dataOf('event')).toMatchObject([{ event: { type: 'message.delivered' } }, {}, {}])
  expect(dataOf('delivery')).toMatchObject([{ state: 'waiting', attempts: [] }, {}, {}])
  const end = lines.at(-1)
  expect(end).toMatchObject({ type: 'end', data: { accountId: account.accountId, counts: { message: 3, event: 3 } } })
  for (const secret of [account.apiKey, account.secret, 'Bearer of the customer', server.simulator.accessToken])
    expect(text).not.toContain(secret)
  for (const column of ['_encrypted', 'key_hash']) expect(text).not.toContain(column)
  expect(text).not.toContain(other.accountId)
})

test('exports each message once across several pages', async () => {
  const account = await server.account()
  await insertMessages(account, 1_201)

  const { lines } = await exportLines(account.accountId)

  const ids = lines.filter(({ type }) => type === 'message').map(({ data }) => data['messageId'])
  expect(new Set(ids).size).toBe(1_201)
  expect(ids.length).toBe(1_201)
})

test('exports the counts of each day in a statement of its own, whether they are stored by day or by quarter of an hour', async () => {
  const { accountId } = await server.account()
  await sql`
    with day as (
      insert into message_counts (account_id, day, status, accepted, error_code, delivery_seconds, count)
      values (${accountId}, '2026-01-02', 'sent', true, '', -1, 1), (${accountId}, '2026-01-04', 'sent', true, '', -1, 2)
    )
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, count)
    values (${accountId}, '2026-01-03T00:00:00Z', 'read', true, '', 5, 9),
      (${accountId}, '2026-01-03T23:45:00Z', 'read', true, '', 5, -9),
      (${accountId}, '2026-01-04T23:45:00Z', 'sent', true, '', -1, 4),
      (${accountId}, '2026-01-05T00:00:00Z', 'sent', true, '', -1, 8)`.execute(server.deps.db)

  const { db, statements } = recordStatements(server.deps.db)
  const { lines } = await exportLines(accountId, db)

  const counts = lines.filter(({ type }) => type === 'messageCount').map(({ data }) => data)
  expect(counts.map(({ day, status: state, count }) => [day, state, count])).toEqual([
    ['2026-01-02', 'sent', 1],
    ['2026-01-04', 'sent', 6],
    ['2026-01-05', 'sent', 8],
  ])
  // Also reads the day whose counts add up to nothing.
  expect(statements.filter((statement) => statement.includes('sum(count)::integer'))).toHaveLength(4)
})

async function insertMessages(account: TestAccount, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => server.deps.newId('msg'))
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    select ${account.accountId}, id, ${account.whatsAppAccountId}, 'failed', '34600111222', 'order_shipped', 'en', now()
    from unnest(${ids}::text[]) id`.execute(server.deps.db)
}

test('removes an account with all its data and no other', async () => {
  const account = await fillAccount()
  const other = await fillAccount(1)
  await insertMessages(account, 6_000)
  const owner = await signedInOwner(server, account.accountId)
  const shared = await signedInOwner(server, account.accountId)
  await sql`insert into owner_roles (account_id, owner_id, role)
    select ${other.accountId}, id, 'viewer' from owners where email = ${shared.email}`.execute(server.deps.db)
  const kept = await listTablesOf(other.accountId)

  const removed = await removeAccount(server.deps.db, account.accountId)

  expect(removed).toMatchObject({ messages: 6_003, events: 3 })
  expect(await listTablesOf(account.accountId)).toEqual(['audit_chains', 'audit_entries'])
  expect(await hasData(server.deps.db, account.accountId)).toBe(false)
  expect(await listTablesOf(other.accountId)).toEqual(kept)
  expect((await account.get('/api/v1/message')).statusCode).toBe(401)
  expect((await other.get('/api/v1/message')).statusCode).toBe(200)
  expect((await owner.query('account.list')).statusCode).not.toBe(200)
  const users = await server.deps.db.selectFrom('owners').select('email').execute()
  expect(users.map(({ email }) => email)).toContain(shared.email)
  expect(users.map(({ email }) => email)).not.toContain(owner.email)
})

test('rejects the key on every node while the data is being removed', async () => {
  const account = await fillAccount()
  await insertMessages(account, 20_000)
  const node = await nodeForTest(server, { deps: { secrets: server.deps.secrets } })
  const codes: number[] = []

  await removeAccount(server.deps.db, account.accountId, (progress) => {
    if (progress.startsWith('messages') && codes.length === 0) {
      codes.push(0)
      void node
        .request('GET', '/api/v1/message', { headers: { 'x-api-key': account.apiKey } })
        .then(({ statusCode }) => codes.push(statusCode))
    }
  })

  await expect.poll(() => codes).toEqual([0, 401])
})

test('continues an interrupted removal', async () => {
  const account = await fillAccount()
  await insertMessages(account, 12_000)
  const interrupted = removeAccount(server.deps.db, account.accountId, (progress) => {
    if (progress.startsWith('messages')) throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  expect(await hasData(server.deps.db, account.accountId)).toBe(true)

  await removeAccount(server.deps.db, account.accountId)

  expect(await listTablesOf(account.accountId)).toEqual([])
})

test('deletes long lists in short statements, while the account is already locked out', async () => {
  const { db } = server.deps
  const account = await server.account()
  const { accountId } = account
  await sql`
    insert into suppressions (account_id, number_key, id, to_number, suppressed, reason, since, changed_at)
    select ${accountId}, 34600000000 + n, 'sup_' || n, 34600000000 + n, true, 'manual', now(), now()
    from generate_series(1, 6000) n`.execute(db)
  await sql`
    insert into media (id, account_id, sha256, type, size_bytes, created_at, expires_at, stored_at)
    select 'media_removed_' || n, ${accountId}, n::text, 'image/jpeg', 1, now(), now(), now()
    from generate_series(1, 6000) n`.execute(db)
  await sql`
    insert into recipient_identities (account_id, identity, number, person, seen_at)
    select ${accountId}, 34600000000 + n, 34600000000 + n, 34600000000 + n, now()
    from generate_series(1, 6000) n`.execute(db)
  const reported: string[] = []
  const interrupted = removeAccount(db, accountId, (progress) => {
    reported.push(progress)
    if (progress.startsWith('suppressions')) throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')

  expect(reported).toEqual([
    'media: 6000 rows deleted',
    'recipient_identities: 5000 rows deleted',
    'recipient_identities: 6000 rows deleted',
    'suppressions: 5000 rows deleted',
  ])
  expect((await account.get('/api/v1/message')).statusCode).toBe(401)
  expect((await requireAccount(db, accountId)).suspendedAt).toBeDefined()
  expect(await listTablesOf(accountId)).toContain('suppressions')

  expect(await removeAccount(db, accountId)).toMatchObject({ suppressions: 1_000 })

  expect(await listTablesOf(accountId)).toEqual([])
  await expect(requireAccount(db, accountId)).rejects.toThrow(accountId)
  const { numDeletedRows } = await db
    .deleteFrom('removed_media')
    .where('id', 'like', 'media_removed_%')
    .executeTakeFirst()
  expect(numDeletedRows).toBe(6_000n)
})

test('reads a table without an index by account in short statements', async () => {
  const { db } = server.deps
  await sql`
    insert into webhook_attempts (account_id, delivery_id, endpoint_id, event_id, number, started_at, duration_ms)
    values ('acc_rest', 'dlv_1', 'ep_1', 'evt_1', 1, now(), 1)`.execute(db)
  const { db: recorder, statements } = recordStatements(db)

  expect(await hasData(db, 'acc_rest')).toBe(true)
  expect(await hasData(recorder, 'acc_mistyped')).toBe(false)

  const reads = statements.filter((text) => text.includes('select from') && text.includes('webhook_attempts'))
  expect(reads).not.toEqual([])
  expect(reads.filter((text) => !text.includes('ctid'))).toEqual([])
  await sql`delete from webhook_attempts where account_id = 'acc_rest'`.execute(db)
})

test('asks for a confirmation on the command line', async () => {
  const { url } = server.database
  const account = await server.account()
  const environment = { DATABASE_URL: url, WAYBILL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  const run = (...args: string[]) => runHere(['account', 'remove', account.accountId, ...args], environment)

  expect(await run()).toMatchObject({
    exitCode: 2,
    stdout: expect.stringContaining(`add --confirm ${account.accountId}`),
  })
  expect(await run('--confirm', 'acc_other')).toMatchObject({ exitCode: 2 })
  expect((await account.get('/api/v1/message')).statusCode).toBe(200)

  const removed = await run('--confirm', account.accountId, '--json')
  expect(removed).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(removed.stdout)).toMatchObject({ accountId: account.accountId, auditLog: 'kept' })
  const audit = await runHere(['audit', 'list', account.accountId], environment)
  expect(audit.stdout).toMatch(/removed the account .* done/)
  expect(await run('--confirm', account.accountId)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no account'),
  })
})

test('removes the audit log on request', async () => {
  const { url } = server.database
  const account = await server.account()
  const environment = { DATABASE_URL: url, WAYBILL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }

  await runHere(['account', 'remove', account.accountId, '--confirm', account.accountId, '--audit-log'], environment)

  const { rows } = await sql`select from audit_entries where account_id = ${account.accountId}`.execute(server.deps.db)
  expect(rows).toEqual([])
})
