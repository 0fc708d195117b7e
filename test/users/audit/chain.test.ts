import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { rekey } from '../../../src/accounts/rekey.ts'
import { listStoredSecrets } from '../../../src/cli/stored-secrets.ts'
import { readDatabaseClock } from '../../../src/platform/db/clock.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { appendAuditEntry } from '../../../src/users/audit/append.ts'
import { readAuditKeys, sealEntry, sealHead } from '../../../src/users/audit/chain.ts'
import { findAuditChain, updateAuditChain } from '../../../src/users/audit/store.ts'
import { changes } from '../../../contracts/facts/changes.ts'
import { audited, exportAudit, listAudit } from '../../../src/users/audit/audit.ts'
import { expireAuditEntries, verifyAudit } from '../../../src/users/audit/verify.ts'
import { createTestDeps } from '../../support/deps.ts'
import { openTestDatabase, patientSeconds } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)

const ada = { who: 'ada@example.com', address: '192.0.2.1' }

/** Creates an account with a number of actions, each with a start and an outcome. */
async function accountWithActions(count: number, within = deps): Promise<string> {
  const { accountId } = await createAccount(within, { name: 'Shop' })
  for (let number = 1; number <= count; number++) await act(accountId, `did ${number}`, within)
  return accountId
}

function act(accountId: string, what: string, within = deps): Promise<void> {
  return audited(within, { accountId, what, ...ada }, () => Promise.resolve())
}

async function exportLines(accountId: string, within = deps): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  for await (const some of exportAudit(within, accountId)) lines.push(...some)
  return lines.map((line) => JSON.parse(line))
}

async function findCreatedAt(accountId: string, sequence: number): Promise<Date> {
  const { created_at } = await deps.db
    .selectFrom('audit_entries')
    .select('created_at')
    .where('account_id', '=', accountId)
    .where('sequence', '=', sequence)
    .executeTakeFirstOrThrow()
  return created_at
}

test('appends the start and outcome of an action as two entries but lists one row', async () => {
  const accountId = await accountWithActions(1)
  await audited(deps, { accountId, what: 'failed', ...ada }, () => Promise.reject(new Error('no'))).catch(() => {})

  const { items } = await listAudit(deps, { accountId, limit: 10 })
  const lines = await exportLines(accountId)

  expect(items.map(({ what, outcome }) => [what, outcome])).toEqual([
    ['failed', 'refused'],
    ['did 1', 'done'],
  ])
  expect(lines.map(({ type, sequence, startSequence, outcome }) => [type, sequence, startSequence, outcome])).toEqual([
    ['entry', 1, null, 'started'],
    ['entry', 2, 1, 'done'],
    ['entry', 3, null, 'started'],
    ['entry', 4, 3, 'refused'],
    ['head', 4, undefined, undefined],
  ])
  expect(await verifyAudit(deps, accountId)).toEqual({
    accountId,
    ok: true,
    entries: 4,
    head: { sequence: 4, hash: lines[4]?.['hash'] },
    expired: null,
  })
})

test('exports hashes that can be recomputed without a key', async () => {
  const accountId = await accountWithActions(2)

  const lines = await exportLines(accountId)

  let previous = Buffer.alloc(32)
  for (const line of lines.filter(({ type }) => type === 'entry')) {
    const { version, sequence, startSequence, id, outcome, who, what, address, at, keyId, fact } = line
    const fields = [version, accountId, sequence, startSequence, id, outcome, who, what, address, at, keyId, fact]
    previous = createHash('sha256').update(previous).update(JSON.stringify(fields)).digest()
    expect(line['hash']).toBe(previous.toString('hex'))
  }
  expect(lines.at(-1)).toMatchObject({ type: 'head', hash: previous.toString('hex') })
})

test('verifies entries of the version before among later ones', async () => {
  const accountId = await accountWithActions(1)
  const head = await findAuditChain(deps.db, accountId)
  const [key] = (await readAuditKeys(deps)).values()
  if (!head || !key) throw new Error('the account has no audit log')
  const common = { ...ada, sequence: 3, id: 'aud_1', outcome: 'done' as const, what: 'signed out' }
  const unsealed = { ...common, accountId, startSequence: null, fact: null, hashVersion: 1, createdAt: new Date() }
  const { createdAt, keyId, hash, mac } = sealEntry(head.hash, unsealed, key)
  const asBefore = { account_id: accountId, start_sequence: null, created_at: createdAt, key_id: keyId, hash, mac }
  await deps.db
    .insertInto('audit_entries')
    .values({ ...common, ...asBefore })
    .execute()
  await updateAuditChain(deps.db, sealHead({ ...head, sequence: 3, hash }, key))
  await audited(deps, { accountId, what: changes.createTemplate({ name: 'hello', language: 'en' }), ...ada }, () =>
    Promise.resolve(),
  )

  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 5 })
  expect((await listAudit(deps, { accountId, limit: 2 })).items).toMatchObject([
    {
      what: 'created the template hello (en)',
      facts: { what: { code: 'change.createTemplate', params: { name: 'hello', language: 'en' } } },
    },
    { what: 'signed out', facts: {} },
  ])
  expect((await exportLines(accountId)).map(({ version }) => version)).toEqual([2, 2, undefined, 2, 2, undefined])
})

test.each(['"', '\\', 'a\nb', '\u{1f600}', '\ud800', 'a\0b', '\u2028', ' x ', '["1","2"]'])(
  'verifies an entry that contains %j',
  async (text) => {
    const accountId = await accountWithActions(0)
    await appendAuditEntry(deps, { accountId, id: 'aud_1', who: text, what: text, address: text, outcome: 'done' })

    expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 1 })
  },
)

interface Tampering {
  statements: string[]
  brokenAt: number
  reason?: RegExp
}

/** Each case starts with six entries of an account; `$account` is replaced by its ID. */
const entry3 = `where account_id = '$account' and sequence = 3`
const tamperings: Record<string, Tampering> = {
  ...Object.fromEntries(
    [
      `id = 'aud_forged'`,
      `outcome = 'refused'`,
      `start_sequence = 1`,
      `who = 'mallory@example.com'`,
      `what = 'did nothing'`,
      `address = '203.0.113.9'`,
      `created_at = created_at + interval '1 millisecond'`,
      `created_at = 'infinity'`,
      `fact = '{}'`,
      `hash_version = 1`,
      `key_id = 'other'`,
      `hash = decode(repeat('00', 32), 'hex')`,
      `hash = '\\x'`,
      `mac = decode(repeat('00', 32), 'hex')`,
    ].map((change) => [
      `an entry gets ${change}`,
      { statements: [`update audit_entries set ${change} ${entry3}`], brokenAt: 3 },
    ]),
  ),
  'the hash of a changed entry is recomputed': {
    statements: [
      `update audit_entries set what = 'did nothing' ${entry3}`,
      `update audit_entries target set hash = sha256(
        (select hash from audit_entries where account_id = '$account' and sequence = 2)
        || convert_to('[2,' || to_json(account_id) || ',' || sequence || ',null,' || to_json(id) || ',' || to_json(outcome)
          || ',' || to_json(who) || ',' || to_json(what) || ',' || to_json(address) || ',"'
          || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '",' || to_json(key_id) || ',null]', 'UTF8')
      ) ${entry3}`,
    ],
    brokenAt: 3,
    reason: /HMAC does not match/,
  },
  'an entry in the middle is deleted': { statements: [`delete from audit_entries ${entry3}`], brokenAt: 3 },
  'an entry is deleted and those after it are renumbered': {
    statements: [
      `delete from audit_entries ${entry3}`,
      `update audit_entries set sequence = -sequence where account_id = '$account' and sequence > 3`,
      `update audit_entries set sequence = -sequence - 1 where account_id = '$account' and sequence < 0`,
      `update audit_chains set sequence = 5 where account_id = '$account'`,
    ],
    brokenAt: 3,
  },
  'the first entries are deleted': {
    statements: [`delete from audit_entries where account_id = '$account' and sequence <= 2`],
    brokenAt: 1,
  },
  'the first entries are deleted and declared expired': {
    statements: [
      `update audit_chains set expired_sequence = 2, expired_hash =
        (select hash from audit_entries where account_id = '$account' and sequence = 2) where account_id = '$account'`,
      `delete from audit_entries where account_id = '$account' and sequence <= 2`,
    ],
    brokenAt: 6,
    reason: /HMAC of the head/,
  },
  'the last entries are deleted': {
    statements: [`delete from audit_entries where account_id = '$account' and sequence > 4`],
    brokenAt: 5,
    reason: /entries 5 to 6 are missing/,
  },
  'the last entries are deleted and the head is set back': {
    statements: [
      `delete from audit_entries where account_id = '$account' and sequence > 4`,
      `update audit_chains set sequence = 4, hash =
        (select hash from audit_entries where account_id = '$account' and sequence = 4) where account_id = '$account'`,
    ],
    brokenAt: 4,
    reason: /HMAC of the head/,
  },
  'the head is deleted': {
    statements: [`delete from audit_chains where account_id = '$account'`],
    brokenAt: 6,
    reason: /head of the chain is missing/,
  },
  'two entries are swapped': {
    statements: [
      `update audit_entries set sequence = -3 ${entry3}`,
      `update audit_entries set sequence = 3 where account_id = '$account' and sequence = 4`,
      `update audit_entries set sequence = 4 where account_id = '$account' and sequence = -3`,
    ],
    brokenAt: 3,
  },
  'a copy of an entry is appended': {
    statements: [
      `insert into audit_entries select account_id, 7, start_sequence, id, outcome, who, what, address, created_at, key_id, hash, mac
        from audit_entries ${entry3}`,
    ],
    brokenAt: 7,
  },
  'an entry is inserted at the front': {
    statements: [
      `insert into audit_entries select account_id, 0, start_sequence, id, outcome, who, what, address, created_at, key_id, hash, mac
        from audit_entries ${entry3}`,
    ],
    brokenAt: 0,
  },
  'the key of the audit log is replaced by another ciphertext': {
    statements: [`update audit_keys set key_encrypted = 'v1.' || repeat('0', 60)`],
    brokenAt: 1,
    reason: /no key of WAYBILL_SECRET_KEY decrypts/,
  },
}

test.each(Object.entries(tamperings))('detects that %s', async (_how, { statements, brokenAt, reason = /./ }) => {
  const accountId = await accountWithActions(3)
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 6 })
  const keys = await deps.db.selectFrom('audit_keys').selectAll().execute()
  for (const statement of statements) await sql.raw(statement.replaceAll('$account', accountId)).execute(deps.db)

  const found = await verifyAudit(deps, accountId)
  // Entries appended later do not hide the change.
  await act(accountId, 'went on')
  await act(accountId, 'went on')
  const later = await verifyAudit(deps, accountId)
  await deps.db.deleteFrom('audit_keys').execute()
  await deps.db.insertInto('audit_keys').values(keys).execute()

  expect(found).toMatchObject({ ok: false, fault: { sequence: brokenAt, reason: expect.stringMatching(reason) } })
  expect(later.ok).toBe(false)
})

test('detects that the chains of two accounts were swapped', async () => {
  const [first, second] = [await accountWithActions(2), await accountWithActions(2)]
  for (const table of ['audit_entries', 'audit_chains'])
    for (const [from, to] of [
      [first, 'acc_none'],
      [second, first],
      ['acc_none', second],
    ])
      await sql`update ${sql.table(table)} set account_id = ${to} where account_id = ${from}`.execute(deps.db)

  expect(await verifyAudit(deps, first)).toMatchObject({ ok: false, fault: { sequence: 1 } })
  expect(await verifyAudit(deps, second)).toMatchObject({ ok: false, fault: { sequence: 1 } })
})

test('detects a rolled back log by a saved hash', async () => {
  const accountId = await accountWithActions(1)
  const early = await verifyAudit(deps, accountId)
  const head = await deps.db
    .selectFrom('audit_chains')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  await act(accountId, 'did 2')
  const late = await verifyAudit(deps, accountId)
  expect(await verifyAudit(deps, accountId, { expectedHash: early.head?.hash })).toMatchObject({ ok: true })
  expect(await verifyAudit(deps, accountId, { expectedHash: late.head?.hash })).toMatchObject({ ok: true })

  await deps.db.deleteFrom('audit_entries').where('account_id', '=', accountId).where('sequence', '>', 2).execute()
  await deps.db.updateTable('audit_chains').set(head).where('account_id', '=', accountId).execute()

  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true })
  expect(await verifyAudit(deps, accountId, { expectedHash: late.head?.hash })).toMatchObject({
    ok: false,
    fault: { reason: expect.stringContaining('no entry has the expected hash') },
  })
})

test('appends one unbroken chain from many concurrent writers of an account', async () => {
  // The number of transactions that a process runs concurrently.
  const writers = 8
  const accountId = await accountWithActions(0)
  const pools = [deps.db]
  if (database.url !== undefined)
    for (let count = 0; count < 2; count++)
      pools.push(openDatabase({ kind: 'postgres', url: database.url, ...patientSeconds }, pino({ level: 'silent' })))

  await Promise.all(
    pools.flatMap((db) =>
      Array.from({ length: writers }, (_, number) => act(accountId, `did ${number}`, { ...deps, db })),
    ),
  )

  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 2 * writers * pools.length })
  const { items } = await listAudit(deps, { accountId, limit: 100 })
  expect(items).toHaveLength(writers * pools.length)
  expect(items.every(({ outcome }) => outcome === 'done')).toBe(true)
  for (const pool of pools.slice(1)) await pool.destroy()
})

test("rolls back an entry with its caller's transaction", async () => {
  const accountId = await accountWithActions(1)
  const entry = { accountId, id: 'aud_1', what: 'changed', outcome: 'done', ...ada } as const
  const transaction = (fail: boolean) =>
    deps.db.transaction().execute(async (trx) => {
      await trx.selectFrom('accounts').selectAll().where('id', '=', accountId).forUpdate().execute()
      await appendAuditEntry({ ...deps, db: trx }, entry)
      if (fail) throw new Error('rolled back')
    })

  await transaction(true).catch(() => {})
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 2 })

  await Promise.all([transaction(false), act(accountId, 'did 2'), transaction(false), act(accountId, 'did 3')])
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 8 })
})

test('keeps an action without an outcome if its process died', async () => {
  const accountId = await accountWithActions(1)
  const started = Promise.withResolvers<void>()
  const never = new Promise<void>(() => {})
  void audited(deps, { accountId, what: 'died', ...ada }, () => (started.resolve(), never))
  await started.promise

  const { items } = await listAudit(deps, { accountId, limit: 10 })

  expect(items.map(({ what, outcome }) => [what, outcome])).toEqual([
    ['died', 'started'],
    ['did 1', 'done'],
  ])
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 3 })
})

test('deletes expired entries, verifies the rest and remembers the last deleted hash', async () => {
  const accountId = await accountWithActions(2)
  const before = await verifyAudit(deps, accountId)
  // The cutoff has whole milliseconds, so the third action must not share one with the second.
  const last = await findCreatedAt(accountId, 4)
  await expect.poll(() => readDatabaseClock(deps.db)).toSatisfy((now: Date) => now > last)
  await act(accountId, 'did 3')
  const cutoff = await findCreatedAt(accountId, 5)

  await expireAuditEntries(deps, cutoff)
  await expireAuditEntries(deps, cutoff)

  expect((await listAudit(deps, { accountId, limit: 10 })).items).toMatchObject([{ what: 'did 3' }])
  expect(await verifyAudit(deps, accountId, { expectedHash: before.head?.hash })).toMatchObject({
    ok: true,
    entries: 2,
    head: { sequence: 6 },
    expired: before.head,
  })
  await expireAuditEntries(deps, new Date(Date.now() + 86_400_000))
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 0, head: { sequence: 6 } })
  await act(accountId, 'did 4')
  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: true, entries: 2, head: { sequence: 8 } })
})

test('keeps entries whose time was changed to make them expire', async () => {
  const accountId = await accountWithActions(3)
  await sql`update audit_entries set created_at = now() - interval '2 years'
    where account_id = ${accountId} and sequence <= 4`.execute(deps.db)

  await expireAuditEntries(deps, new Date(Date.now() - 365 * 86_400_000))

  expect(await verifyAudit(deps, accountId)).toMatchObject({ ok: false, fault: { sequence: 1 } })
  expect((await listAudit(deps, { accountId, limit: 10 })).items).toHaveLength(3)
})

test('verifies earlier entries with only the new key after a rekey', async () => {
  const own = await openTestDatabase()
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const before = createTestDeps(own)
  const withKeys = (...keys: [Buffer, ...Buffer[]]) => ({
    ...before,
    secrets: createSecretBox(keys, before.randomBytes),
  })
  const accountId = await accountWithActions(1, withKeys(oldKey))
  await rekey(withKeys(newKey, oldKey), listStoredSecrets)

  await act(accountId, 'did 2', withKeys(newKey))

  expect(await verifyAudit(withKeys(newKey), accountId)).toMatchObject({ ok: true, entries: 4 })
  expect(await own.db.selectFrom('audit_keys').selectAll().execute()).toHaveLength(1)
  await own.close()
})

test('records changes without the key and reports the missing key on verification', async () => {
  const own = await openTestDatabase()
  const accountId = await accountWithActions(1, createTestDeps(own))
  const within = createTestDeps(own)

  await act(accountId, 'did 2', within)

  const { items } = await listAudit(within, { accountId, limit: 10 })
  expect(items.map(({ what, outcome }) => `${what}: ${outcome}`)).toEqual(['did 2: done', 'did 1: done'])
  expect(await verifyAudit(within, accountId)).toMatchObject({
    ok: false,
    fault: { sequence: 1, reason: expect.stringContaining('no key of WAYBILL_SECRET_KEY decrypts') },
  })
  await own.close()
})

test('moves entries of versions without a chain into the chain once', async () => {
  const own = await openTestDatabase()
  const within = createTestDeps(own)
  const { accountId } = await createAccount(within, { name: 'Shop' })
  const { accountId: other } = await createAccount(within, { name: 'Other' })
  const insert = (id: string, account: string, what: string, outcome: string) =>
    sql`insert into audit_log_unchained (account_id, id, who, what, address, outcome, created_at)
      values (${account}, ${id}, 'ada@example.com', ${what}, '192.0.2.1', ${outcome}, '2026-11-20T09:00:00.123456Z')`.execute(
      own.db,
    )
  await insert('aud_1', accountId, 'did 1', 'done')
  await insert('aud_2', accountId, 'did 2', 'refused')
  await insert('aud_3', accountId, 'did 3', 'started')
  await insert('aud_1', other, 'did other', 'done')

  const { items } = await listAudit(within, { accountId, limit: 10 })
  expect(items.map(({ id, what, outcome }) => [id, what, outcome])).toEqual([
    [expect.any(String), 'brought 3 earlier entries into the hash chain', 'done'],
    ['aud_3', 'did 3', 'started'],
    ['aud_2', 'did 2', 'refused'],
    ['aud_1', 'did 1', 'done'],
  ])
  expect(items.at(-1)).toMatchObject({ at: '2026-11-20T09:00:00.123Z', who: 'ada@example.com', address: '192.0.2.1' })
  expect(await verifyAudit(within, other)).toMatchObject({ ok: true, entries: 2 })
  // Does not accept entries that this installation did not write.
  await sql`insert into audit_log_unchained (account_id, id, who, what, address)
    values (${accountId}, 'aud_0', 'mallory', 'forged', '203.0.113.9')`.execute(own.db)
  await act(accountId, 'did 4', within)
  expect(JSON.stringify(await listAudit(within, { accountId, limit: 10 }))).not.toContain('forged')
  expect(await verifyAudit(within, accountId)).toMatchObject({ ok: true, entries: 6 })
  await own.close()
})
