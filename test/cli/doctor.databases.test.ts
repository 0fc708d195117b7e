import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { deactivateRefused, deactivateWhatsAppAccount } from '../../src/whatsapp-accounts/change.ts'
import { findWhatsAppAccount } from '../../src/whatsapp-accounts/store.ts'
import { requireWhatsAppAccount } from '../../src/whatsapp-accounts/whatsapp-account.ts'
import { insertAccount } from '../../src/accounts/store.ts'
import { doctor } from '../../src/cli/commands/doctor.ts'
import { runChecks } from '../../src/cli/doctor.ts'
import type { Deps } from '../../src/deps.ts'
import { sealContent } from '../../src/messages/contents/content.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createMailTransport, type MailConfig } from '../../src/platform/email/transport.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { createCloudApi } from '../../src/whatsapp/client/cloud-api.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { createTestDeps } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { setHealth } from '../support/health.ts'
import { forFile } from '../support/lifetime.ts'
import { startSmtpServer } from '../support/smtp.ts'
import { nobody } from './run-command.ts'

const simulator = await forFile(startSimulator())
const database = await forFile(openTestDatabase())
const whatsapp = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0' }))
let deps: Deps
beforeEach(async () => {
  await sql`truncate accounts, messages cascade`.execute(database.db)
  deps = { ...createTestDeps(database), whatsapp }
})

async function addAccount(
  accessToken = simulator.accessToken,
): Promise<{ accountId: string; whatsAppAccountId: string }> {
  const { accountId } = await createAccount(deps, { name: 'Doctor' })
  const { phoneNumberId, wabaId } = simulator
  const input = { phoneNumberId, wabaId, accessToken, unverified: true }
  return { accountId, ...(await addWhatsAppAccount(deps, accountId, input)) }
}

async function failures(examined: Deps = deps): Promise<Record<string, { message: string; fix?: string }>> {
  const findings = await runChecks(examined)
  return Object.fromEntries(
    findings.filter(({ ok }) => !ok).map(({ check, message, fix }) => [check, { message, fix }]),
  )
}

test('reports no problem for a working installation', async () => {
  const { accountId } = await addAccount()
  await syncTemplates(deps, accountId)

  expect(await failures()).toEqual({})
})

test('explains how to connect the first number, and ticks nothing about numbers before', async () => {
  expect(await failures()).toEqual({
    'WhatsApp account': { message: expect.any(String), fix: expect.stringContaining('waybill account create') },
  })
  const accountId = deps.newId('acc')
  await insertAccount(deps.db, { id: accountId, name: 'Shop', createdAt: new Date() })

  expect(await failures()).toEqual({
    'WhatsApp account': { message: expect.any(String), fix: `waybill whatsapp connect ${accountId}` },
  })
  const withoutSecret = await runChecks({ ...deps, callbacks: { ...deps.callbacks, appSecret: undefined } })
  expect(withoutSecret.map(({ check }) => check)).not.toContain('callbacks')
})

/** Of v21.0, which ends on 2027-01-21. */
const nearTheEnd = () => new Date('2027-01-01T12:00:00Z')

test('reports once that the version of the Graph API ends', async () => {
  await addAccount()

  const findings = await runChecks({ ...deps, now: nearTheEnd, graphVersion: 'v21.0' })

  expect(findings.filter(({ message }) => message.includes('v21.0'))).toMatchObject([
    { check: 'Graph API version', ok: true, message: expect.stringContaining('2027-01-21') },
  ])
})

test('reports templates that were never synced', async () => {
  const { accountId } = await addAccount()

  expect(Object.values(await failures())).toEqual([
    { message: 'none is approved', fix: `waybill template sync ${accountId}` },
  ])
})

test('reports a token that WhatsApp rejects', async () => {
  const { whatsAppAccountId } = await addAccount('EAAwrong')

  const found = (await failures())[`WhatsApp account ${whatsAppAccountId}`]

  expect(found?.fix).toContain(`waybill whatsapp activate ${whatsAppAccountId}`)
  expect(JSON.stringify(found)).not.toContain('EAAwrong')
})

test('reports a deactivated default account with the stored reason', async () => {
  const { accountId, whatsAppAccountId } = await addAccount()
  const row = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  await deactivateRefused(deps, requireWhatsAppAccount(row, whatsAppAccountId), {
    code: 190,
    title: 'Access token has expired',
  })

  expect((await failures())[`WhatsApp account ${whatsAppAccountId}`]).toMatchObject({
    message: expect.stringContaining('WhatsApp rejected it (190): Access token has expired'),
  })
})

const runDoctor = (examined: Deps) => doctor.run(examined, { args: [], options: {}, rest: [], json: false }, nobody)

/** The line of a check, as printed. */
async function printed(check: string, examined: Deps = deps): Promise<string | undefined> {
  const { text } = await runDoctor(examined)
  return text.split('\n').find((line) => line.slice(2).startsWith(check))
}

test('fails for an account that WhatsApp rejected, even if it is not the default', async () => {
  const { accountId } = await addAccount()
  const other = { phoneNumberId: '2', wabaId: simulator.wabaId, accessToken: 'EAA', unverified: true }
  const { whatsAppAccountId } = await addWhatsAppAccount(deps, accountId, other)
  const row = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  await deactivateRefused(deps, requireWhatsAppAccount(row, whatsAppAccountId), {
    code: 190,
    title: 'Access token has expired',
  })
  const check = `WhatsApp account ${whatsAppAccountId}`

  expect(await printed(check)).toBe(`✗ ${check}: inactive: WhatsApp rejected it (190): Access token has expired`)
  expect(await failures()).toHaveProperty([check])

  await deactivateWhatsAppAccount(deps, { accountId, whatsAppAccountId })
  expect(await printed(check)).toMatch(/^✓ /)
})

test('marks warnings, which do not fail the command, and ticks nothing that has a fix', async () => {
  const { accountId, whatsAppAccountId } = await addAccount()
  await syncTemplates(deps, accountId)
  await setHealth(deps, { whatsAppAccountId }, { callback_problem: 'WhatsApp does not show it', subscribed: true })

  const { json, text, exitCode } = await runDoctor(deps)

  expect(text).toContain(`! health of ${whatsAppAccountId}: There is a problem with the callback URL`)
  expect(text).not.toMatch(/^✓ .*\n  →/m)
  expect(json).toMatchObject({
    ok: true,
    findings: expect.arrayContaining([
      expect.objectContaining({ check: `health of ${whatsAppAccountId}`, ok: true, severity: 'warning' }),
      expect.objectContaining({ check: 'database', ok: true, severity: 'ok' }),
    ]),
  })
  expect(exitCode).toBe(0)
})

const withSettings = (callbacks: Partial<Deps['callbacks']>) => ({
  ...deps,
  callbacks: { ...deps.callbacks, ...callbacks },
})

test('warns about a missing verify token and an app secret that Meta does not issue', async () => {
  await addAccount()
  const genuine = '0123456789abcdef0123456789ABCDEF'

  expect(await printed('verify token', withSettings({ verifyToken: undefined }))).toMatch(
    /^! verify token: META_VERIFY_TOKEN is not set/,
  )
  expect(await printed('verify token', withSettings({ verifyToken: 'random' }))).toMatch(/^✓ /)
  expect(await printed('callbacks', withSettings({ appSecret: 'notasecret' }))).toMatch(
    /^! callbacks: META_APP_SECRET is not 32 hexadecimal digits/,
  )
  expect(await printed('callbacks', withSettings({ appSecret: genuine }))).toMatch(/^✓ /)
})

test('reports an unreachable WhatsApp, with and without a token to check', async () => {
  const unreachable = createCloudApi({ url: 'http://127.0.0.1:9', version: 'v25.0' })
  expect(await failures({ ...deps, whatsapp: unreachable })).toHaveProperty('Graph API')

  const { whatsAppAccountId } = await addAccount()
  expect((await failures({ ...deps, whatsapp: unreachable }))[`WhatsApp account ${whatsAppAccountId}`]).toMatchObject({
    fix: expect.stringContaining('GRAPH_API_URL'),
  })
  await unreachable.close()
})

test('shows the proxies without their passwords, and names them if WhatsApp is unreachable', async () => {
  const { proxies } = readConfig({ HTTPS_PROXY: 'http://ada:s3cret@127.0.0.1:9' })
  const unreachable = createCloudApi({ url: 'https://graph.example.com', version: 'v25.0', proxies })
  const found = await runChecks({ ...deps, proxies, whatsapp: unreachable })

  expect(found.find(({ check }) => check === 'proxy')?.message).toBe(
    'https requests go through http://127.0.0.1:9, except to this machine',
  )
  expect(found.find(({ check }) => check === 'Graph API')).toMatchObject({
    message: 'the proxy (HTTPS_PROXY) cannot be reached',
    fix: expect.stringContaining('HTTPS_PROXY'),
  })
  expect(JSON.stringify(found)).not.toContain('s3cret')
  await unreachable.close()
})

test('reports a secret that no key decrypts', async () => {
  const { whatsAppAccountId } = await addAccount()

  const found = await failures({ ...deps, secrets: createSecretBox([randomBytes(32)], randomBytes) })

  expect(found['secret key']?.message).toContain(`1 of 1 stored secrets cannot be decrypted (${whatsAppAccountId})`)
})

test('reports contents of messages that no key decrypts, and those that an older key encrypted', async () => {
  const { accountId } = await addAccount()
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const key = { accountId, messageId: deps.newId('msg') }
  const content = { values: {}, shown: { body: 'Hello' } }
  const sealed = sealContent(createSecretBox([oldKey], randomBytes), key, content)
  await deps.db
    .insertInto('message_contents')
    .values({ account_id: accountId, message_id: key.messageId, content_encrypted: sealed })
    .execute()
  const checkWith = async (...keys: [Buffer, ...Buffer[]]) =>
    (await runChecks({ ...deps, secrets: createSecretBox(keys, randomBytes) })).find(
      ({ check }) => check === 'message contents',
    )

  expect(await checkWith(newKey)).toMatchObject({ ok: false, message: `cannot be decrypted for ${accountId}` })
  expect(await checkWith(newKey, oldKey)).toMatchObject({ ok: true, fix: 'waybill rekey' })
  expect(await checkWith(oldKey)).toEqual({
    check: 'message contents',
    ok: true,
    message: 'encrypted with the current key',
  })
  await deps.db.deleteFrom('message_contents').execute()
})

test('reports messages that stay pending for more than a minute', async () => {
  const { accountId, whatsAppAccountId } = await addAccount()
  await deps.db
    .insertInto('messages')
    .values({
      account_id: accountId,
      id: deps.newId('msg'),
      whatsapp_account_id: whatsAppAccountId,
      status: 'pending',
      to_number: '34600111222',
      template_name: 'order_shipped',
      template_language: 'en',
      created_at: new Date(),
    })
    .execute()
  // Messages recorded before the database was created count as examined.
  await sql`update overdue_progress set looked_until = now() - interval '2 days'`.execute(deps.db)
  const age = (seconds: number) =>
    deps.db
      .updateTable('messages')
      .set({ recorded_at: sql<Date>`now() - ${seconds} * interval '1 second'` })
      .execute()

  await age(30)
  expect(await failures()).not.toHaveProperty('messages')
  await age(90)
  expect((await failures())['messages']?.message).toMatch(/^1 from the last day/)
  await age(25 * 3600)
  expect(await failures()).not.toHaveProperty('messages')
})

test('reports an SMTP server that works, rejects the password, or is down', async () => {
  const smtp = await startSmtpServer({ tls: 'none', auth: { user: 'waybill', pass: 'right' } })
  const examineMail = async (config: MailConfig) => {
    const findings = await runChecks({ ...deps, mail: createMailTransport(config) })
    return findings.filter(({ check }) => check === 'email')
  }

  expect(await examineMail({ ...smtp.config, requireTls: false })).toMatchObject([{ ok: true }])
  expect(await examineMail({ ...smtp.config, auth: { user: 'waybill', pass: 'wrong' } })).toMatchObject([
    { ok: false, message: expect.stringContaining('EAUTH'), fix: expect.stringContaining('SMTP_URL') },
  ])
  expect(await examineMail({ ...smtp.config, requireTls: true })).toMatchObject([
    { ok: false, fix: expect.stringContaining('STARTTLS') },
  ])
  await smtp.close()
  expect(await examineMail(smtp.config)).toMatchObject([{ ok: false, fix: expect.stringContaining('host and port') }])
  expect(await runChecks(deps)).not.toContainEqual(expect.objectContaining({ check: 'email' }))
})

test('reports a schema of a newer version before any other check', async () => {
  await sql`insert into waybill_migrations values ('0901-future', '', '9.1.0')`.execute(deps.db)

  const findings = await runChecks(deps)

  expect(findings.at(-1)).toMatchObject({
    check: 'migrations',
    ok: false,
    message: 'the schema belongs to another version of Waybill',
    fix: expect.stringContaining('install Waybill 9.1.0 or newer'),
  })
  await sql`delete from waybill_migrations where name = '0901-future'`.execute(deps.db)
})

test('reports an outdated schema before any other check', async () => {
  await sql`alter table waybill_migrations rename to waybill_migrations_away`.execute(deps.db)

  const findings = await runChecks(deps)

  expect(findings.at(-1)).toMatchObject({ check: 'migrations', ok: false, fix: 'waybill migrate' })
  await sql`drop table if exists waybill_migrations`.execute(deps.db)
  await sql`alter table waybill_migrations_away rename to waybill_migrations`.execute(deps.db)
})
