import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { rekey } from '../../../src/accounts/rekey.ts'
import { listStoredSecrets } from '../../../src/cli/stored-secrets.ts'
import { composeEmail } from '../../../src/platform/email/compose.ts'
import { type EmailOutcome, Mailer } from '../../../src/platform/email/mailer.ts'
import { claimEmails, enqueueEmails, type NewEmail } from '../../../src/platform/email/outbox.ts'
import { createMailTransport } from '../../../src/platform/email/transport.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { forFile } from '../../support/lifetime.ts'
import { freePort } from '../../support/postgres.ts'
import { startTestServer } from '../../support/server.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { eventually } from '../../support/eventually.ts'

const mailers: Mailer[] = []

const server = await forFile(startTestServer())
const smtp = await forFile(startSmtpServer())

afterEach(async () => {
  await Promise.all(mailers.splice(0).map((mailer) => mailer.stop()))
  await server.deps.db.deleteFrom('emails').execute()
  smtp.received.length = 0
  smtp.refuse = {}
  server.log.length = 0
})

function start(config = smtp.config): EmailOutcome[] {
  const outcomes: EmailOutcome[] = []
  const mailer = new Mailer(server.deps, createMailTransport(config), (outcome) => outcomes.push(outcome))
  mailer.start()
  mailers.push(mailer)
  return outcomes
}

function compose(to: string, change: Partial<NewEmail> = {}): NewEmail {
  const content = composeEmail({ subject: 'Hello', paragraphs: ['A secret link.'] })
  return { kind: 'password_reset', accountId: undefined, to, validSeconds: 3600, ...content, ...change }
}

async function enqueue(to: string, validSeconds = 3600): Promise<boolean> {
  const stored = await enqueueEmails(server.deps, [compose(to, { validSeconds })])
  server.deps.notifications.notify('emails')
  return stored
}

/** Makes waiting emails due, as if the delay before the next attempt had passed. */
async function makeDue(): Promise<void> {
  await sql`update emails set due_at = now()`.execute(server.deps.db)
  server.deps.notifications.notify('emails')
}

const recipients = () => smtp.received.flatMap(({ to }) => to)
const countWaiting = async () => (await server.deps.db.selectFrom('emails').select('id').execute()).length

test('sends an email as soon as it is stored, and deletes it', async () => {
  start()
  await enqueue('ada@example.com')

  await eventually(() => expect(recipients()).toEqual(['ada@example.com']))
  await eventually(async () => expect(await countWaiting()).toBe(0))
})

test('stores the content encrypted, and with the new key after a rotation', async () => {
  await enqueue('ada@example.com')
  const row = await server.deps.db.selectFrom('emails').selectAll().executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain('secret link')
  const box = createSecretBox([Buffer.alloc(32, 1)], server.deps.randomBytes)
  // Decrypts with the earlier key, encrypts with the new one.
  const secrets = { ...box, decrypt: server.deps.secrets.decrypt.bind(server.deps.secrets), isCurrent: () => false }

  await rekey({ db: server.deps.db, secrets }, async (db) =>
    (await listStoredSecrets(db)).filter(({ recordId }) => recordId === row.id),
  )

  const renewed = (await listStoredSecrets(server.deps.db)).find(({ recordId }) => recordId === row.id)
  expect(box.decrypt(renewed?.ciphertext ?? '', renewed?.purpose ?? '')).toContain('secret link')
})

test('retries while the SMTP server is down, and logs the change of state once', async () => {
  const port = await freePort()
  const down = await startSmtpServer({ port })
  await down.close()
  const outcomes = start(down.config)
  await enqueue('ada@example.com')
  await eventually(() => expect(outcomes).toEqual(['failed']))
  await makeDue()
  await eventually(() => expect(outcomes).toEqual(['failed', 'failed']))

  const up = await startSmtpServer({ port })
  await makeDue()
  await eventually(() => expect(up.received).toHaveLength(1))
  await eventually(() => expect(outcomes).toEqual(['failed', 'failed', 'sent']))

  await up.close()
  const messages = server.log.filter((line) => line.includes('SMTP')).map((line) => JSON.parse(line))
  expect(messages.map(({ msg }) => msg)).toEqual([
    'the SMTP server is not accepting email; retrying. Run waybill doctor for the cause',
    'the SMTP server accepts email again',
  ])
  expect(server.log.join('')).not.toMatch(/secret link|ada@example/)
})

test('retries after a temporary rejection and drops an email after a permanent one', async () => {
  const outcomes = start()
  smtp.refuse = { recipient: 450 }
  await enqueue('greylisted@example.com')
  await eventually(() => expect(outcomes).toEqual(['failed']))
  smtp.refuse = {}
  await makeDue()
  await eventually(() => expect(recipients()).toEqual(['greylisted@example.com']))

  smtp.refuse = { recipient: 550 }
  await enqueue('unknown@example.com')
  await eventually(() => expect(outcomes).toEqual(['failed', 'sent', 'rejected']))
  expect(await countWaiting()).toBe(0)
})

test('sends other emails while one recipient is rejected', async () => {
  const outcomes = start()
  smtp.refuse = { recipient: 450 }
  await enqueue('slow@example.com')
  await eventually(() => expect(outcomes).toEqual(['failed']))
  smtp.refuse = {}
  await enqueue('ada@example.com')

  await eventually(() => expect(recipients()).toEqual(['ada@example.com']))
  await eventually(async () => expect(await countWaiting()).toBe(1))
  // The server itself works.
  expect(server.log.join('')).not.toContain('not accepting email')
})

test('drops an expired email', async () => {
  await enqueue('late@example.com', 0)
  const outcomes = start()

  await eventually(() => expect(outcomes).toEqual(['expired']))
  expect(recipients()).toEqual([])
})

test('drops an email that cannot be decrypted', async () => {
  await enqueue('ada@example.com')
  await sql`update emails set content_encrypted = 'v1.00000000.AAAA.AAAA'`.execute(server.deps.db)
  const outcomes = start()

  await eventually(() => expect(outcomes).toEqual(['unreadable']))
  expect(recipients()).toEqual([])
  expect(await countWaiting()).toBe(0)
})

test('sends each email once with several servers', async () => {
  for (let count = 0; count < 30; count++) await enqueue(`person${count}@example.com`)
  start()
  start()

  await eventually(async () => expect(await countWaiting()).toBe(0))
  expect(recipients()).toHaveLength(30)
  expect(new Set(recipients()).size).toBe(30)
})

test('sends emails claimed by a crashed server once its lease expires', async () => {
  await enqueue('ada@example.com')
  await sql`update emails set due_at = now() + interval '120 seconds', attempts = 1`.execute(server.deps.db)
  start()
  await makeDue()

  await eventually(() => expect(recipients()).toEqual(['ada@example.com']))
})

/** Stores emails that are not due. */
async function fill(kind: NewEmail['kind'], count: number): Promise<void> {
  await sql`
    insert into emails (id, kind, recipient, content_encrypted, expires_at, due_at)
    select ${`eml_${kind}_`} || n, ${kind}, 'x@example.com', '', now() + interval '1 day', now() + interval '1 day'
    from generate_series(1, ${count}::integer) n`.execute(server.deps.db)
}

test('stores no more than 10,000 emails', async () => {
  await fill('invitation', 10_000)

  expect(await enqueue('ada@example.com')).toBe(false)
})

test('uses at most half of the outbox for alerts', async () => {
  const { accountId } = await server.account()
  const alert = compose('ada@example.com', { kind: 'alert', accountId })
  await fill('alert', 4_999)

  expect(await enqueueEmails(server.deps, [alert])).toBe(true)
  expect(await enqueueEmails(server.deps, [alert])).toBe(false)
  expect(await enqueue('ada@example.com')).toBe(true)
  expect(await countWaiting()).toBe(5_001)
})

test('stores at most 100 alerts of one account, and those of other accounts', async () => {
  const [first, second] = [await server.account(), await server.account()]
  const alertsOf = (accountId: string, count: number) =>
    Array.from({ length: count }, (_, n) => compose(`${n}@example.com`, { kind: 'alert', accountId }))

  expect(await enqueueEmails(server.deps, alertsOf(first.accountId, 99))).toBe(true)
  const both = [...alertsOf(first.accountId, 2), ...alertsOf(second.accountId, 2)]
  expect(await enqueueEmails(server.deps, both)).toBe(false)
  expect(await enqueueEmails(server.deps, [compose('ada@example.com', { accountId: first.accountId })])).toBe(true)

  const waiting = await server.deps.db.selectFrom('emails').select(['account_id', 'kind']).execute()
  expect(waiting.filter((row) => row.account_id === first.accountId && row.kind === 'alert')).toHaveLength(100)
  expect(waiting.filter((row) => row.account_id === second.accountId)).toHaveLength(2)
})

test('claims invitations and password resets before alerts', async () => {
  const { accountId } = await server.account()
  for (const kind of ['alert', 'invitation', 'alert', 'password_reset'] as const)
    await enqueueEmails(server.deps, [compose('ada@example.com', { kind, accountId })])

  const [first, second] = [
    await claimEmails(server.deps.db, { limit: 2, leaseSeconds: 60 }),
    await claimEmails(server.deps.db, { limit: 2, leaseSeconds: 60 }),
  ]

  expect(first.map(({ kind }) => kind).toSorted()).toEqual(['invitation', 'password_reset'])
  expect(second.map(({ kind }) => kind)).toEqual(['alert', 'alert'])
})
