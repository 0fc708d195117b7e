import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { forFile } from '../../support/lifetime.ts'
import { type SettingsResponse, signedInOwner, type TestOwner, visitor } from '../../support/user.ts'
import { startTestServer } from '../../support/server.ts'
import {
  createPopulatedAccount,
  type PopulatedAccount,
  inputsOf,
  listSettingsContracts,
} from '../../support/dashboard.ts'

const server = await forFile(startTestServer())
const mine = await createPopulatedAccount(server)
const theirs = await createPopulatedAccount(server)
const owner = await signedInOwner(server, mine.accountId)
const viewer = await signedInOwner(server, mine.accountId, { role: 'viewer' })

const all = listSettingsContracts()
const ofAnAccount = all.filter(({ contract }) => contract.allowed === 'viewer' || contract.allowed === 'owner')
const changes = all.filter(({ contract }) => contract.kind === 'mutation')

interface Named {
  name: string
  contract: { kind: 'query' | 'mutation' }
}

function call(person: TestOwner, { name, contract }: Named, input: object): Promise<SettingsResponse<object>> {
  return contract.kind === 'query' ? person.query(name, input) : person.mutate(name, input)
}

/** Everything in an account that a procedure could change: the rows of each table as text. */
async function snapshot(accountId: string): Promise<string[]> {
  const tables = ['api_keys', 'whatsapp_accounts', 'templates', 'messages', 'webhook_endpoints', 'webhook_deliveries']
  const ofPeople = ['owner_roles', 'owner_invitations', 'audit_entries']
  const rowsOf = (table: string, key = 'account_id') => sql`
    select concat(${sql.lit(table)}, ' ', to_jsonb(t)) as row from ${sql.table(table)} t where ${sql.ref(key)} = ${accountId}`
  const all = [rowsOf('accounts', 'id'), ...[...tables, ...ofPeople].map((table) => rowsOf(table))]
  // The order is that of the text: the planner may read the same rows in another order once autovacuum has run.
  const { rows } = await sql<{ row: string }>`${sql.join(all, sql` union all `)} order by 1`.execute(server.deps.db)
  return rows.map(({ row }) => row)
}

test('has a test input for every procedure of an account', () => {
  expect(Object.keys(inputsOf(mine))).toEqual(expect.arrayContaining(ofAnAccount.map(({ name }) => name)))
})

describe.each(ofAnAccount)('$name', (procedure) => {
  const { name } = procedure

  test('rejects a caller who is not signed in', async () => {
    const response = await call(visitor(server), procedure, { accountId: mine.accountId, ...inputsOf(mine)[name] })

    expect(response).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
  })

  test("hides another customer's account and does not change it", async () => {
    const before = await snapshot(theirs.accountId)

    const foreign = await call(owner, procedure, { accountId: theirs.accountId, ...inputsOf(theirs)[name] })
    const unknown = await call(owner, procedure, { accountId: 'acc_none', ...inputsOf(theirs)[name] })

    expect(foreign).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
    expect(foreign.error.message).toBe(unknown.error.message)
    expect(await snapshot(theirs.accountId)).toEqual(before)
  })
})

const namesSomething = ofAnAccount.filter(
  ({ name }) =>
    // An invitation may name any email address.
    name !== 'member.invite' &&
    ['whatsAppAccountId', 'messageId', 'endpointId', 'deliveryId', 'email'].some(
      (id) => id in (inputsOf({} as PopulatedAccount)[name] ?? {}),
    ),
)

test.each(namesSomething)('finds no resource of another customer with $name', async (procedure) => {
  const before = await snapshot(theirs.accountId)

  const response = await call(owner, procedure, { accountId: mine.accountId, ...inputsOf(theirs)[procedure.name] })

  expect([200, 400, 404]).toContain(response.statusCode)
  expect(response.data ?? { items: [] }).toEqual({ items: [] })
  expect(await snapshot(theirs.accountId)).toEqual(before)
})

test.each(ofAnAccount.filter(({ contract }) => contract.allowed === 'owner'))(
  'rejects a viewer who calls $name',
  async (procedure) => {
    const before = await snapshot(mine.accountId)

    const response = await call(viewer, procedure, { accountId: mine.accountId, ...inputsOf(mine)[procedure.name] })

    expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'ROLE_REQUIRED' } } })
    expect(await snapshot(mine.accountId)).toEqual(before)
  },
)

test.each(ofAnAccount.filter(({ contract }) => contract.allowed === 'viewer'))(
  'allows a viewer to call $name',
  async (procedure) => {
    const response = await call(viewer, procedure, { accountId: mine.accountId, ...inputsOf(mine)[procedure.name] })

    expect(response.statusCode).toBe(200)
  },
)

/** Changes of users to their own settings, which the handlers audit. */
const ownChanges = ['session.revoke', 'session.revokeOthers', 'invitation.join']

test('restricts procedures for every signed-in user to their own settings', () => {
  expect(changes.filter(({ contract }) => contract.allowed === 'signed-in').map(({ name }) => name)).toEqual(ownChanges)
})

/** Changes of members of any role to their own settings in an account, and the record of what they export. */
const ownChoices = ['audit.recordExport', 'alert.testEmail', 'alert.setEmails']

/** Views of the message log, visible only to the user who saved them. */
const ownViews = ['view.save', 'view.rename', 'view.delete']

test('restricts every other mutation of users to owners and records it in the audit log', () => {
  const own = new Set([...ownChanges, ...ownViews])
  const changing = changes.filter(({ contract, name }) => contract.allowed !== 'anybody' && !own.has(name))

  expect(changing.filter(({ contract }) => contract.allowed !== 'owner').map(({ name }) => name)).toEqual(ownChoices)
  // Its handler records it, unless nothing changes.
  expect(changing.filter(({ contract }) => typeof contract.audit !== 'function').map(({ name }) => name)).toEqual([
    'alert.setEmails',
  ])
})

describe.each(changes)('$name', ({ name }) => {
  test.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('rejects a page of another site: %o', async (headers) => {
    const before = await snapshot(mine.accountId)

    const input = { accountId: mine.accountId, ...inputsOf(mine)[name] }
    const response = await owner.mutate(name, input, headers)

    expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'FOREIGN_ORIGIN' } } })
    expect(await snapshot(mine.accountId)).toEqual(before)
  })
})

test('accepts only JSON, so that a form of another site cannot call a procedure', async () => {
  const response = await owner.mutate(
    'publicApi.revokeKey',
    { accountId: mine.accountId },
    { 'content-type': 'text/plain' },
  )

  expect(response.statusCode).toBe(415)
})

test.each([{ accountId: 'acc\u0000' }, { accountId: 'a'.repeat(10_000) }, { accountId: ['acc_1'] }, {}, []])(
  'reports an invalid account ID as not found: %o',
  async (input) => {
    const response = await owner.query('publicApi.get', input)

    expect(response).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
  },
)
