import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { activateWhatsAppAccount, deactivateWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { createDisplacementRecorder } from '../../../src/http/displacement.ts'
import { enqueueEmails } from '../../../src/platform/email/outbox.ts'
import { Mailer } from '../../../src/platform/email/mailer.ts'
import { createMailTransport } from '../../../src/platform/email/transport.ts'
import { findWhatsAppAccount } from '../../../src/whatsapp-accounts/store.ts'
import { requireWhatsAppAccount } from '../../../src/whatsapp-accounts/whatsapp-account.ts'
import { announceChanges } from '../../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { accountWithOwner, signedInOwner } from '../../support/user.ts'
import { nodeForTest, startTestServer } from '../../support/server.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { eventually } from '../../support/eventually.ts'

const smtp = await forFile(startSmtpServer())
const mail = createMailTransport(smtp.config)
const server = await forFile(startTestServer({ deps: { mail } }))
/** Another server on the same database. */
const node = await forFile(startTestServer({ beside: server, deps: { mail } }))
const mailer = await forFile(new Mailer(server.deps, mail))
mailer.start()

/** Both servers check for changes several times. */
async function announce(): Promise<void> {
  for (let round = 0; round < 2; round++) await Promise.all([announceChanges(server.deps), announceChanges(node.deps)])
}

const subjects = () => smtp.received.map(({ to, subject }) => `${to.join()}: ${subject}`).toSorted()

test('mails each alert once to every member, and its end once', async () => {
  const { accountId, whatsAppAccountId, owner: ada } = await accountWithOwner(server)
  const bob = await signedInOwner(server, accountId, { role: 'viewer' })
  const other = await server.account()
  await signedInOwner(server, other.accountId)
  // The display number that the simulator returns for every number.
  const number = '+15550100001'

  await sql`update whatsapp_accounts set inactive_reason = 'the token has expired'
    where id = ${whatsAppAccountId}`.execute(server.deps.db)
  await announce()
  await eventually(() =>
    expect(subjects()).toEqual(
      [`${ada.email}: ${number} can no longer send`, `${bob.email}: ${number} can no longer send`].toSorted(),
    ),
  )
  expect(smtp.received[0]).toMatchObject({
    link: `https://waybill.example.com/settings/${accountId}/whatsapp-accounts/${whatsAppAccountId}`,
    body: expect.stringContaining('the token has expired'),
  })

  await activateWhatsAppAccount(server.deps, { accountId, whatsAppAccountId })
  await announce()
  await eventually(() => expect(smtp.received).toHaveLength(4))
  expect(subjects()).toEqual(
    [ada, bob]
      .flatMap(({ email }) => [`${email}: ${number} can send again`, `${email}: ${number} can no longer send`])
      .toSorted(),
  )
})

test('mails members about a token that is revoked during sends', async () => {
  const account = await server.account()
  const { email } = await signedInOwner(server, account.accountId)
  smtp.received.length = 0
  const { phoneNumberId, wabaId } = account
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'another-token' })

  await Promise.all(Array.from({ length: 5 }, () => account.post('/api/v1/message/send', exampleSend)))
  await announce()

  await eventually(() =>
    expect(subjects().filter((subject) => subject.startsWith(email))).toEqual([
      `${email}: +15550100001 can no longer send`,
    ]),
  )
})

test('mails each notice of the expiry of a token once', async () => {
  const { accountId, whatsAppAccountId } = await server.account()
  const { email } = await signedInOwner(server, accountId)
  const expire = (days: string) =>
    sql`update whatsapp_account_health set token_expires_at = now() + ${days}::interval
      where whatsapp_account_id = ${whatsAppAccountId}`.execute(server.deps.db)
  smtp.received.length = 0

  await expire('10 days')
  await announce()
  await expire('6 days')
  await announce()

  await eventually(() => expect(smtp.received).toHaveLength(2))
  expect(smtp.received.every(({ to }) => to.join() === email)).toBe(true)
  expect(smtp.received.every(({ subject }) => /^The access token of .* expires in \d+ days$/.test(subject))).toBe(true)
})

test('mails a change of the quality rating', async () => {
  const { accountId, whatsAppAccountId } = await server.account()
  const { email } = await signedInOwner(server, accountId)
  const rate = (rating: string) =>
    sql`update whatsapp_accounts set quality_rating = ${rating} where id = ${whatsAppAccountId}`.execute(server.deps.db)
  await rate('GREEN')
  await announce()
  smtp.received.length = 0

  await rate('YELLOW')
  await announce()

  await eventually(() => expect(subjects()).toEqual([`${email}: The quality rating of +15550100001 is now YELLOW`]))
})

test('mails the members of an account that lost its phone number to another account', async () => {
  const { accountId, whatsAppAccountId } = await server.account()
  const { email } = await signedInOwner(server, accountId)
  const found = await findWhatsAppAccount(server.deps.db, accountId, whatsAppAccountId)
  const row = requireWhatsAppAccount(found, whatsAppAccountId)
  smtp.received.length = 0

  await server.deps.db
    .transaction()
    .execute((trx) =>
      createDisplacementRecorder(server.deps)(trx, { row, isKnownInactive: false, newDefaultId: undefined }),
    )

  await eventually(() => expect(smtp.received).toMatchObject([{ to: [email] }]))
  expect(smtp.received[0]?.body).toContain('another account verified ownership of the phone number')
})

test('announces by log and webhook without an SMTP server', async () => {
  const plain = await nodeForTest(server)
  const { accountId, whatsAppAccountId } = await server.account()
  await signedInOwner(server, accountId)
  smtp.received.length = 0

  await deactivateWhatsAppAccount(plain.deps, { accountId, whatsAppAccountId })

  expect(await announceChanges(plain.deps)).toBe(1)
  expect(await server.deps.db.selectFrom('emails').select('id').where('account_id', '=', accountId).execute()).toEqual(
    [],
  )
})

test('mails no alerts to members who unsubscribed, and links to the unsubscribe page in every alert', async () => {
  const { accountId, whatsAppAccountId, owner: ada } = await accountWithOwner(server)
  const bob = await signedInOwner(server, accountId, { role: 'viewer' })
  const page = `https://waybill.example.com/settings/${accountId}/alerts#email`

  const stopped = await bob.mutate('alert.setEmails', { accountId, receives: false })
  expect(stopped.data).toEqual({ emails: true, receives: false })
  const seen = await ada.query('alert.recipients', { accountId })
  expect(seen.data).toEqual({
    emails: true,
    receives: true,
    members: [
      { email: ada.email, receives: true },
      { email: bob.email, receives: false },
    ].toSorted((a, b) => (a.email < b.email ? -1 : 1)),
  })
  smtp.received.length = 0
  await deactivateWhatsAppAccount(server.deps, { accountId, whatsAppAccountId })
  await announce()
  await eventually(() => expect(smtp.received).toHaveLength(1))

  expect(smtp.received[0]).toMatchObject({ to: [ada.email], body: expect.stringContaining(page) })
  expect(smtp.received[0]?.raw.replace(/\r\n[ \t]+/g, ' ')).toMatch(`List-Unsubscribe: <${page}>`)

  await bob.mutate('alert.setEmails', { accountId, receives: true })
  await activateWhatsAppAccount(server.deps, { accountId, whatsAppAccountId })
  await announce()
  await eventually(() => expect(smtp.received.map(({ to }) => to.join())).toContain(bob.email))
})

test('drops waiting alerts for a member who unsubscribes, and no others', async () => {
  const { accountId, owner: ada } = await accountWithOwner(server)
  const bob = await signedInOwner(server, accountId)
  const emails = [ada, bob].map(({ email: to }) => {
    const content = { subject: 'An alert', text: 'It failed.', html: '<p>It failed.</p>' }
    return { kind: 'alert' as const, accountId, to, validSeconds: 3600, ...content }
  })
  await server.deps.db.transaction().execute(async (db) => {
    await enqueueEmails({ ...server.deps, db }, emails)
    await sql`update emails set due_at = now() + interval '30 minutes' where account_id = ${accountId}`.execute(db)
  })

  await ada.mutate('alert.setEmails', { accountId, receives: false })

  const { db } = server.deps
  expect(await db.selectFrom('emails').select('recipient').where('account_id', '=', accountId).execute()).toEqual([
    { recipient: bob.email },
  ])
})
