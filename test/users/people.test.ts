import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { composeEmail } from '../../src/platform/email/compose.ts'
import { enqueueEmails } from '../../src/platform/email/outbox.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { removeMemberAsOperator, resetPassword } from '../../src/users/change-member.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { lockOwners } from '../../src/users/store.ts'
import { runCommand } from '../cli/run-command.ts'
import { forFile } from '../support/lifetime.ts'
import { accountWithOwner, type SettingsResponse, signedInOwner, type TestOwner, visitor } from '../support/user.ts'
import { startTestServer } from '../support/server.ts'
import { lockWaits } from '../support/lock-waits.ts'

const server = await forFile(startTestServer())
/** Another server on the same database. */
const node = await forFile(startTestServer({ beside: server }))
const { owner, ...account } = await accountWithOwner(server)

afterEach(async () => {
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  await server.deps.db.deleteFrom('owner_tries').execute()
})

let people = 0
const newAddress = () => `person${++people}@example.com`

/** Calls a procedure about the account. */
function of({ accountId }: { accountId: string }) {
  return {
    invite: (by: TestOwner, email: string, role = 'viewer') =>
      by.mutate<{ link?: string; expiresAt: string }>('member.invite', { accountId, email, role }),
    setRole: (by: TestOwner, email: string, role: string) => by.mutate('member.setRole', { accountId, email, role }),
    remove: (by: TestOwner, email: string) => by.mutate('member.remove', { accountId, email }),
    members: (by: TestOwner) => by.query<{ items: { email: string; role: string }[] }>('member.list', { accountId }),
    invitations: (by: TestOwner) => by.query<{ items: Record<string, unknown>[] }>('member.invitations', { accountId }),
    revoke: (by: TestOwner, email: string) => by.mutate('member.revokeInvitation', { accountId, email }),
  }
}

function tokenOf(link = ''): string {
  return link.split('/').at(-1) ?? ''
}

/** Accepts the invitation of a link as a new person. */
function accept(link: string | undefined, by = visitor(server), password = 'a password of Bob') {
  return by.mutate('invitation.accept', { token: tokenOf(link), name: 'Bob', password })
}

/** The session of the same person, used on the other server. */
async function onNode(person: TestOwner): Promise<TestOwner> {
  const elsewhere = visitor(node, person.email)
  await elsewhere.signIn()
  return elsewhere
}

/** Invites a member of the account to another one as an owner. */
async function inviteMember() {
  const other = await server.account()
  const member = await signedInOwner(server, account.accountId)
  const { path } = await inviteUser(server.deps, other.accountId, { email: member.email, role: 'owner' })
  return { other, member, path }
}

test('invites a person, who accepts with the link and is then a member', async () => {
  const { owner, ...account } = await accountWithOwner(server)
  const email = newAddress()

  const { data: invited } = await of(account).invite(owner, email)
  const { data: pending } = await of(account).invitations(owner)
  await accept(invited.link)

  expect(invited.link).toMatch(/^https:\/\/waybill\.example\.com\/settings\/invitation\/[\w-]{43}$/)
  expect(pending.items).toEqual([
    { email, role: 'viewer', expiresAt: invited.expiresAt, invitedBy: owner.email, emailWaiting: false },
  ])
  const { data: after } = await of(account).members(owner)
  expect(after.items).toContainEqual({ email, name: 'Bob', role: 'viewer', twoFactor: false })
  expect((await of(account).invitations(owner)).data.items).toEqual([])
})

test('starts links with WAYBILL_PUBLIC_URL, even if a request names another host', async () => {
  const { data } = await owner.mutate<{ link: string }>(
    'member.invite',
    { accountId: account.accountId, email: newAddress(), role: 'viewer' },
    { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' },
  )

  expect(new URL(data.link).origin).toBe('https://waybill.example.com')
})

test('tells the invited user who has invited them', async () => {
  const { data: invited } = await of(account).invite(owner, newAddress())

  const read = await visitor(server).query('invitation.get', { token: tokenOf(invited.link) })

  expect(read.data).toMatchObject({ invitedBy: owner.email })
})

test('makes the link of a revoked invitation invalid', async () => {
  const email = newAddress()
  const { data: invited } = await of(account).invite(owner, email)

  const revoked = await of(account).revoke(owner, email)
  const again = await of(account).revoke(owner, email)
  const read = await visitor(server).query('invitation.get', { token: tokenOf(invited.link) })

  expect(revoked.statusCode).toBe(200)
  expect(again.statusCode).toBe(404)
  expect(read.statusCode).toBe(404)
})

test.each<[string, (inviter: TestOwner) => Promise<unknown>]>([
  ['is removed', ({ email }) => of(account).remove(owner, email)],
  ['becomes a viewer', ({ email }) => of(account).setRole(owner, email, 'viewer')],
  ['is removed by an operator', ({ email }) => removeMemberAsOperator(server.deps, account.accountId, email)],
])('makes the invitations of an owner who %s invalid, and sends none of their emails', async (_what, end) => {
  const inviter = await signedInOwner(server, account.accountId)
  const [email, other] = [newAddress(), newAddress()]
  const { data: invited } = await of(account).invite(inviter, email, 'owner')
  const { data: kept } = await of(account).invite(owner, other)
  const waiting = { kind: 'invitation' as const, accountId: account.accountId, validSeconds: 60 }
  const content = composeEmail({ subject: 'Invitation', paragraphs: [], link: { label: 'Accept', url: server.url } })
  await enqueueEmails(
    server.deps,
    [email, other].map((to) => ({ ...waiting, to, ...content })),
  )

  await end(inviter)

  const accepted = await accept(invited.link)
  expect(accepted.statusCode).toBe(404)
  expect((await visitor(server).query('invitation.get', { token: tokenOf(kept.link) })).statusCode).toBe(200)
  const emails = await server.deps.db
    .selectFrom('emails')
    .select('recipient')
    .where('recipient', 'in', [email, other])
    .execute()
  expect(emails).toEqual([{ recipient: other }])
})

test.each<{ change: string; start: (by: TestOwner, email: string) => Promise<SettingsResponse<unknown>> }>([
  { change: 'an invitation', start: (by) => of(account).invite(by, newAddress(), 'owner') },
  { change: 'a new role', start: (by, email) => of(account).setRole(by, email, 'owner') },
  { change: 'a removal', start: (by, email) => of(account).remove(by, email) },
])('rejects $change by an owner who is removed at the same moment', async ({ start }) => {
  const removed = await signedInOwner(server, account.accountId)
  const { email } = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const [members, invitations] = [await of(account).members(owner), await of(account).invitations(owner)]

  const changing = await server.deps.db.transaction().execute(async (trx) => {
    await lockOwners(trx, account.accountId)
    const started = start(removed, email)
    await expect.poll(() => lockWaits(server.deps.db, '%"owner_roles"%')).toHaveLength(1)
    await sql`delete from owner_roles where owner_id = (select id from owners where email = ${removed.email})`.execute(
      trx,
    )
    return { started }
  })

  expect((await changing.started).error.data).toMatchObject({ code: 'ROLE_REQUIRED' })
  const isOther = (member: { email: string }) => member.email !== removed.email
  expect((await of(account).members(owner)).data.items).toEqual(members.data.items.filter(isOther))
  expect((await of(account).invitations(owner)).data).toEqual(invitations.data)
})

test.each<[string, (member: TestOwner) => Promise<unknown>]>([
  ['is removed', ({ email }) => of(account).remove(owner, email)],
  ['is removed by an operator', ({ email }) => removeMemberAsOperator(server.deps, account.accountId, email)],
])('sends a member who %s no alert email that was waiting', async (_what, end) => {
  const member = await signedInOwner(server, account.accountId)
  const content = composeEmail({ subject: 'Alert', paragraphs: [], link: { label: 'Open', url: server.url } })
  const alert = { kind: 'alert' as const, accountId: account.accountId, validSeconds: 60, ...content }
  await enqueueEmails(
    server.deps,
    [member, owner].map(({ email }) => ({ ...alert, to: email })),
  )

  await end(member)

  const emails = await server.deps.db.selectFrom('emails').select('recipient').where('kind', '=', 'alert').execute()
  expect(emails).toEqual([{ recipient: owner.email }])
  await server.deps.db.deleteFrom('emails').execute()
})

test('keeps the earlier link of an operator if the email with a new one cannot be queued', async () => {
  const mail = { send: () => Promise.resolve(), verify: () => Promise.resolve() }
  const deps = { ...server.deps, mail }
  const invite = ['owner', 'invite', account.accountId, '--email', newAddress()]
  const { json } = await runCommand(deps, ...invite)
  await sql`
    insert into emails (id, kind, recipient, content_encrypted, expires_at, due_at)
    select 'eml_' || n, 'invitation', 'x@example.com', '', now() + interval '1 day', now() + interval '1 day'
    from generate_series(1, 10000) n`.execute(deps.db)
  try {
    await expect(runCommand(deps, ...invite, '--send')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  } finally {
    await deps.db.deleteFrom('emails').execute()
  }

  const token = tokenOf((json as { url: string }).url)
  expect((await visitor(server).query('invitation.get', { token })).statusCode).toBe(200)
})

test('does not list or revoke the password link of an operator as an invitation', async () => {
  const member = await signedInOwner(server, account.accountId)
  const { path } = await resetPassword(server.deps, account.accountId, member.email)

  const { data } = await of(account).invitations(owner)
  const revoked = await of(account).revoke(owner, member.email)

  expect(data.items).not.toContainEqual(expect.objectContaining({ email: member.email }))
  expect(revoked.statusCode).toBe(404)
  expect((await visitor(server).query('invitation.get', { token: tokenOf(path) })).statusCode).toBe(200)
})

test('does not invite a member again, so that no link can change a role', async () => {
  const response = await of(account).invite(owner, owner.email.toUpperCase())

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { email: expect.any(String) } } } })
})

test('changes a role and removes a member with effect on the next request to every server', async () => {
  const member = await signedInOwner(server, account.accountId)
  const elsewhere = await onNode(member)
  const change = () => elsewhere.mutate('publicApi.setAccess', { accountId: account.accountId, enabled: true })
  expect((await change()).statusCode).toBe(200)

  await of(account).setRole(owner, member.email, 'viewer')
  expect((await change()).error.data.code).toBe('ROLE_REQUIRED')

  await of(account).setRole(owner, member.email, 'owner')
  expect((await change()).statusCode).toBe(200)

  await of(account).remove(owner, member.email)
  // Without another account, the user and their sessions are deleted.
  expect((await change()).error.data.code).toBe('SIGN_IN_REQUIRED')
})

test('keeps the sessions of a removed member who has another account', async () => {
  const other = await server.account()
  const member = await signedInOwner(server, account.accountId)
  await of(account).invite(owner, newAddress())
  const { path } = await inviteUser(server.deps, other.accountId, { email: member.email, role: 'viewer' })
  await member.mutate('invitation.join', { token: tokenOf(path) })

  await of(account).remove(owner, member.email)

  expect(await of(account).members(member)).toMatchObject({ statusCode: 404 })
  expect(await of(other).members(member)).toMatchObject({ statusCode: 200 })
})

test('never demotes or removes the last owner, but lets an operator do so', async () => {
  const { accountId, owner: last } = await accountWithOwner(server)
  await signedInOwner(server, accountId, { role: 'viewer' })

  const demoted = await of({ accountId }).setRole(last, last.email, 'viewer')
  const removed = await of({ accountId }).remove(last, last.email)

  expect(demoted).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
  expect(removed).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
  expect(removed.error.message).not.toContain('waybill owner')
  await removeMemberAsOperator(server.deps, accountId, last.email)
  expect((await of({ accountId }).members(last)).statusCode).toBe(401)
})

test('keeps one of two owners who remove or demote each other at the same time', async () => {
  for (let round = 0; round < 4; round++) {
    const { accountId, owner: ada } = await accountWithOwner(server)
    const bob = await onNode(await signedInOwner(server, accountId))

    const responses = await Promise.all([
      of({ accountId }).remove(ada, bob.email),
      round % 2 === 0 ? of({ accountId }).remove(bob, ada.email) : of({ accountId }).setRole(bob, ada.email, 'viewer'),
    ])

    const owners = await server.deps.db
      .selectFrom('owner_roles')
      .select('owner_id')
      .where('account_id', '=', accountId)
      .where('role', '=', 'owner')
      .execute()
    expect(owners).toHaveLength(1)
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  }
})

test('does not let a viewer gain rights', async () => {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })

  const responses = [
    await of(account).setRole(viewer, viewer.email, 'owner'),
    await of(account).invite(viewer, viewer.email, 'owner'),
    await of(account).invite(viewer, newAddress(), 'owner'),
    await of(account).setRole(viewer, owner.email, 'viewer'),
  ]

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403])
  expect((await of(account).members(owner)).data.items).toContainEqual(
    expect.objectContaining({ email: viewer.email, role: 'viewer' }),
  )
})

test('records each change with the user who made it', async () => {
  const { accountId, owner: first } = await accountWithOwner(server)
  const second = await signedInOwner(server, accountId)
  await of({ accountId }).invite(first, 'bob@example.com', 'owner')
  await of({ accountId }).revoke(first, 'bob@example.com')
  await of({ accountId }).setRole(first, second.email, 'viewer')
  await of({ accountId }).remove(first, second.email)

  const { items } = await listAudit(server.deps, { accountId, limit: 4 })

  expect(items.map(({ who, what, outcome }) => ({ who, what, outcome }))).toEqual(
    [
      `removed ${second.email}`,
      `changed the role of ${second.email} to viewer`,
      'revoked the invitation of bob@example.com',
      'invited bob@example.com as owner',
    ].map((what) => ({ who: first.email, what, outcome: 'done' })),
  )
})

test('lets the invited person accept with one click in their session, once', async () => {
  const { other, member, path } = await inviteMember()
  const join = () => member.mutate('invitation.join', { token: tokenOf(path) })

  const responses = await Promise.all([join(), join()])

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404])
  expect((await of(other).members(member)).statusCode).toBe(200)
  const [entry] = (await listAudit(server.deps, { accountId: other.accountId, limit: 1 })).items
  expect(entry).toMatchObject({ who: member.email, what: 'accepted an invitation as owner', outcome: 'done' })
})

test('lets a new person accept once, even with two requests at the same time', async () => {
  const email = newAddress()
  const { data: invited } = await of(account).invite(owner, email)

  const responses = await Promise.all([server, node].map((on) => accept(invited.link, visitor(on))))

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404])
  expect((await visitor(server, email).signIn('a password of Bob')).statusCode).toBe(200)
})

test('answers a link without a name or with a wrong password in the same way for every address', async () => {
  const other = await server.account()
  const member = await signedInOwner(server, account.accountId)
  const withoutPassword = await signedInOwner(server, account.accountId)
  await server.deps.db
    .deleteFrom('owner_credentials')
    .where('userId', '=', ({ selectFrom }) =>
      selectFrom('owners').select('id').where('email', '=', withoutPassword.email),
    )
    .execute()
  const accept = async (email: string, input: object) => {
    const { path } = await inviteUser(server.deps, other.accountId, { email, role: 'viewer', provesEmail: false })
    const { statusCode, error } = await visitor(server).mutate('invitation.accept', { token: tokenOf(path), ...input })
    return { statusCode, message: error.message, fields: error.data.fields }
  }
  const password = 'a guess of the password'

  const nameless = []
  for (const email of [newAddress(), member.email, withoutPassword.email])
    nameless.push(await accept(email, { password }))
  const wrong = []
  for (const { email } of [member, withoutPassword]) wrong.push(await accept(email, { name: 'Bob', password }))

  expect(new Set(nameless.map((response) => JSON.stringify(response)))).toHaveLength(1)
  expect(nameless[0]).toMatchObject({ statusCode: 400, fields: { name: 'is required' } })
  expect(wrong[0]).toEqual(wrong[1])
  expect(wrong[0]).toMatchObject({ statusCode: 400, fields: { password: expect.any(String) } })
})

test.each([
  { how: 'the same password', passwords: ['a password of Bob', 'a password of Bob'], statuses: [200, 200] },
  { how: 'different passwords', passwords: ['a password of Bob', 'a password of Eve'], statuses: [200, 400] },
])(
  'accepts the links of two accounts for a new person at the same time, with $how',
  async ({ passwords, statuses }) => {
    for (let round = 0; round < 4; round++) {
      const email = newAddress()
      const accounts = [await server.account(), await server.account()]
      const paths: string[] = []
      for (const { accountId } of accounts)
        paths.push((await inviteUser(server.deps, accountId, { email, role: 'owner' })).path)

      const responses = await Promise.all(
        [server, node].map((at, index) => accept(paths[index], visitor(at), passwords[index])),
      )

      expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual(statuses)
      await server.deps.db.deleteFrom('owner_tries').execute()
    }
  },
)

test.each(['accept', 'join'] as const)(
  'lets a person %s while they are removed from their last account',
  async (how) => {
    for (let round = 0; round < 6; round++) {
      const { other, member, path } = await inviteMember()
      const input = { token: tokenOf(path), ...(how === 'accept' && { name: 'Bob', password: member.password }) }

      const [accepted, removed] = await Promise.all([
        member.mutate(`invitation.${how}`, input),
        of(account).remove(owner, member.email),
      ])

      expect(removed.statusCode).toBe(200)
      expect([200, ...(how === 'join' ? [401] : [])]).toContain(accepted.statusCode)
      const { rows } = await sql`
      select from owner_roles where account_id = ${other.accountId}`.execute(server.deps.db)
      expect(rows).toHaveLength(accepted.statusCode === 200 ? 1 : 0)
      await server.deps.db.deleteFrom('owner_tries').execute()
    }
  },
)

test('waits for a removal that is under way, and then accepts as a new person', async () => {
  const { other, member, path } = await inviteMember()
  const [deleted, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const removing = server.deps.db.transaction().execute(async (trx) => {
    await trx.deleteFrom('owners').where('email', '=', member.email).execute()
    deleted.resolve()
    await release.promise
  })
  await deleted.promise

  const accepting = accept(path, member.inOtherBrowser(), member.password)
  await expect.poll(() => lockWaits(server.deps.db)).not.toEqual([])
  release.resolve()
  await removing

  expect((await accepting).statusCode).toBe(200)
  await member.signIn()
  expect((await of(other).members(member)).data.items).toMatchObject([{ name: 'Bob', email: member.email }])
})

test('accepts as a new person if they are removed before their password is checked', async () => {
  const { other, member, path } = await inviteMember()

  const accepting = await server.deps.db.transaction().execute(async (trx) => {
    // Attempts are counted after the user was found, and before their password is read.
    await sql`lock table owner_tries in exclusive mode`.execute(trx)
    const response = accept(path, member.inOtherBrowser(), member.password)
    await expect.poll(() => lockWaits(server.deps.db)).not.toEqual([])
    await removeMemberAsOperator(server.deps, account.accountId, member.email)
    return { response }
  })

  expect(await accepting.response).toMatchObject({ statusCode: 200 })
  await member.signIn()
  expect((await of(other).members(member)).data.items).toMatchObject([{ name: 'Bob', email: member.email }])
})

test('keeps an invitation valid if the database fails while a new person accepts it', async () => {
  const { accountId } = await server.account()
  const email = newAddress()
  const { path } = await inviteUser(server.deps, accountId, { email, role: 'owner' })
  const person = visitor(server, email)

  const failed = await whileRolesFail(accountId, () => accept(path, person))
  const response = await accept(path, person)

  expect(failed.statusCode).toBe(500)
  expect(response.statusCode).toBe(200)
  expect((await person.signIn('a password of Bob')).statusCode).toBe(200)
  expect((await of({ accountId }).members(person)).data.items).toMatchObject([{ email, role: 'owner' }])
})

test('keeps an invitation valid if the database fails while a user joins the account', async () => {
  const { accountId } = await server.account()
  const member = await signedInOwner(server, account.accountId)
  const { path } = await inviteUser(server.deps, accountId, { email: member.email, role: 'viewer' })
  const join = () => member.mutate('invitation.join', { token: tokenOf(path) })

  const failed = await whileRolesFail(accountId, join)
  const response = await join()

  expect(failed.statusCode).toBe(500)
  expect(response.statusCode).toBe(200)
  expect((await of({ accountId }).members(member)).statusCode).toBe(200)
})

/** Runs `run` while the database rejects every new role in this account. */
async function whileRolesFail<T>(accountId: string, run: () => Promise<T>): Promise<T> {
  const { db } = server.deps
  await sql`
    create function reject_role() returns trigger language plpgsql as $$ begin raise 'no role'; end $$`.execute(db)
  await sql`
    create trigger reject_role before insert on owner_roles
    for each row when (new.account_id = ${sql.lit(accountId)}) execute function reject_role()`.execute(db)
  try {
    return await run()
  } finally {
    await sql`drop function reject_role cascade`.execute(db)
  }
}

test('rejects an invitation in the session of another address, and without a session', async () => {
  const other = await server.account()
  const { path } = await inviteUser(server.deps, other.accountId, { email: newAddress(), role: 'owner' })

  const otherUser = await owner.mutate('invitation.join', { token: tokenOf(path) })
  const nobody = await visitor(server).mutate('invitation.join', { token: tokenOf(path) })

  expect(otherUser).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
  expect(nobody).toMatchObject({ statusCode: 401 })
  expect((await of(other).members(owner)).statusCode).toBe(404)
  expect((await visitor(server).query('invitation.get', { token: tokenOf(path) })).statusCode).toBe(200)
})

test('does not accept the link of a new password as an invitation', async () => {
  const member = await signedInOwner(server, account.accountId)
  const elsewhere = member.inOtherBrowser()
  const { path } = await resetPassword(server.deps, account.accountId, member.email)
  await elsewhere.mutate('invitation.accept', { token: tokenOf(path), password: 'another long password' })
  await elsewhere.signIn('another long password')
  const { path: second } = await inviteUser(server.deps, account.accountId, {
    email: member.email,
    role: 'owner',
    setsPassword: true,
  })

  expect(await elsewhere.mutate('invitation.join', { token: tokenOf(second) })).toMatchObject({ statusCode: 409 })
})

test.each([
  { before: 'owner', after: 'viewer' },
  { before: 'viewer', after: 'owner' },
] as const)(
  'keeps a change from $before to $after when an earlier password link is used',
  async ({ before, after }) => {
    const member = await signedInOwner(server, account.accountId, { role: before })
    const elsewhere = member.inOtherBrowser()
    const { path } = await resetPassword(server.deps, account.accountId, member.email)

    await of(account).setRole(owner, member.email, after)
    const accepted = await elsewhere.mutate('invitation.accept', { token: tokenOf(path), password: 'another long one' })

    expect(accepted.statusCode).toBe(200)
    expect((await elsewhere.signIn('another long one')).statusCode).toBe(200)
    const { data } = await of(account).members(owner)
    expect(data.items).toContainEqual(expect.objectContaining({ email: member.email, role: after }))
  },
)

test.each([
  { before: 'owner', after: 'viewer' },
  { before: 'viewer', after: 'owner' },
] as const)('revokes an invitation as $before when the role changes to $after', async ({ before, after }) => {
  const member = await signedInOwner(server, account.accountId, { role: before })
  const { path } = await inviteUser(server.deps, account.accountId, { email: member.email, role: before })

  await of(account).setRole(owner, member.email.toUpperCase(), after)
  const joined = await member.mutate('invitation.join', { token: tokenOf(path) })

  expect(joined.statusCode).toBe(404)
  const { data } = await of(account).members(owner)
  expect(data.items).toContainEqual(expect.objectContaining({ email: member.email, role: after }))
})

test('limits invitations to one address for each account, without using up those of others', async () => {
  const { owner: otherOwner, ...other } = await accountWithOwner(server)
  const invited = newAddress()
  const statuses: number[] = []
  for (let count = 1; count <= 6; count++) statuses.push((await of(account).invite(owner, invited)).statusCode)

  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  expect((await of(other).invite(otherOwner, invited)).statusCode).toBe(200)
})

test('keeps the password of a user if the operator cannot get a link for a new one', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const deps = {
    ...server.deps,
    randomBytes: () => {
      throw new Error('no randomness')
    },
  }

  await expect(resetPassword(deps, accountId, owner.email)).rejects.toThrow('no randomness')

  expect((await owner.inOtherBrowser().signIn()).statusCode).toBe(200)
})
