import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { suspendAccount } from '../../../src/accounts/account.ts'
import { askAtTerminal } from '../../../src/cli/main.ts'
import { whatsappConnect } from '../../../src/cli/commands/whatsapp-connect.ts'
import { listAudit } from '../../../src/users/audit/audit.ts'
import type { CommandResult, Question } from '../../../src/cli/command.ts'
import { parseLine } from '../../../src/cli/syntax.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'
import { nobody, runCommand } from '../run-command.ts'

const app = { id: '300000000000044', name: 'Shop app', secret: 'test-app-secret' }
const server = await forFile(startTestServer())
server.simulator.addApp(app)

let numbers = 0

function newNumber(status = 'PENDING', token: Parameters<TestServer['simulator']['addToken']>[1] = {}) {
  const id = String(++numbers).padStart(4, '0')
  const number = { phoneNumberId: `3100${id}`, wabaId: `3200${id}`, accessToken: `EAAcommand${id}` }
  server.simulator.addPhoneNumber({ ...number, status })
  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId], ...token })
  server.simulator.templatesOf(number.wabaId).add({ name: 'good_news', body: 'Good news, {{1}}.' })
  return number
}

const reported: string[] = []

/** Runs the command like `main`; with `typed`, as at a terminal with this input. */
async function connect(args: string[], typed?: string[]): Promise<CommandResult & { prompts: string }> {
  reported.length = 0
  const line = parseLine(whatsappConnect, args)
  const report = (progress: string) => void reported.push(progress)
  if (!typed) return { ...(await whatsappConnect.run(server.deps, line, { ...nobody, report })), prompts: '' }
  const [input, output] = [new PassThrough(), new PassThrough()]
  // Types each line after its prompt.
  output.on('data', () => {
    const next = typed.shift()
    if (next !== undefined) setImmediate(() => input.write(`${next}\n`))
  })
  const user = { ...nobody, report, ask: (question: Question) => askAtTerminal({ input, output }, question) }
  const response = await whatsappConnect.run(server.deps, line, user)
  output.end()
  return { ...response, prompts: await text(output).catch(() => '') }
}

interface Json {
  ok: boolean
  whatsAppAccountId?: string
  missing?: string
  steps: { step: string; ok: boolean; message: string; fix?: string }[]
}
const jsonOf = ({ json }: CommandResult) => json as Json

test('connects a number with options only, from the token to the first status', async () => {
  const { accountId } = await server.account()
  const { accessToken, phoneNumberId } = newNumber()

  const response = await connect([
    accountId,
    `--access-token=${accessToken}`,
    '--pin=135790',
    '--test-to=34600111222',
    '--json',
  ])

  expect(jsonOf(response).steps.map(({ step, ok }) => [step, ok])).toEqual([
    ['account', true],
    ['subscription', true],
    ['callback', true],
    ['registration', true],
    ['templates', true],
    ['test', true],
    ['status', true],
    ['marketing', true],
  ])
  expect(response.exitCode).toBe(0)
  expect(JSON.stringify(response.json)).not.toMatch(/EAAcommand|135790/)
  expect((await listAudit(server.deps, { accountId, limit: 10 })).items).toMatchObject([
    { what: `connected phone number ID ${phoneNumberId}`, outcome: 'done' },
  ])
})

test('rejects a PIN that is not six digits before anything is changed', async () => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber()

  await expect(connect([accountId, `--access-token=${accessToken}`, '--pin=12345'])).rejects.toThrow(
    '--pin must be six digits.',
  )

  expect((await listAudit(server.deps, { accountId, limit: 10 })).items).toEqual([])
})

test('does not register a banned number again', async () => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber('BANNED')

  const response = await connect([accountId, `--access-token=${accessToken}`, '--json'])

  expect(jsonOf(response).steps).toContainEqual(expect.objectContaining({ step: 'registration', ok: true }))
})

test('asks for no PIN and does not register a number that is also used in the WhatsApp Business app', async () => {
  const { accountId } = await server.account()
  const number = newNumber()
  server.simulator.addPhoneNumber({ ...number, status: 'PENDING', onBusinessApp: true })

  const response = await connect([accountId], [number.accessToken, ''])

  expect(response.prompts).not.toContain('PIN')
  expect(jsonOf(response).steps).toContainEqual({
    step: 'registration',
    ok: true,
    message: expect.stringContaining('also used in the WhatsApp Business app'),
  })
  expect(server.simulator.requests.filter(({ path }) => path === `/${number.phoneNumberId}/register`)).toEqual([])
})

test('prompts for missing values at a terminal, and does not show secrets', async () => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber()

  const response = await connect([accountId], [accessToken, '246810', ''])

  expect(response).toMatchObject({ exitCode: 0, text: expect.stringMatching(/^wa_\w+ is connected\.$/) })
  expect((await listAudit(server.deps, { accountId, limit: 10 })).items).toHaveLength(1)
  expect(reported.join('\n')).toContain('✓ registration: The number is registered with the Cloud API.')
  expect(response.prompts).not.toMatch(/EAAcommand|246810/)
})

test('keeps the ID of the number and stores the new token when repeated', async () => {
  const { accountId } = await server.account()
  const number = newNumber('CONNECTED')
  const first = await connect([accountId, `--access-token=${number.accessToken}`, '--json'])
  server.simulator.addToken('EAAcommandNext', { appId: app.id, wabaIds: [number.wabaId] })

  const again = await connect([accountId, '--access-token=EAAcommandNext', '--json'])

  expect(jsonOf(again).whatsAppAccountId).toBe(jsonOf(first).whatsAppAccountId)
  expect(again.exitCode).toBe(0)
})

test('reports missing options without a terminal, and changes nothing', async () => {
  const { accountId } = await server.account()
  const { accessToken, phoneNumberId } = newNumber()

  expect(jsonOf(await connect([accountId, '--json']))).toMatchObject({ ok: false, missing: '--access-token' })
  const response = await connect([accountId, `--access-token=${accessToken}`, '--json'])

  expect(response).toMatchObject({ exitCode: 1, json: { ok: false, missing: '--pin' } })
  const stored = server.deps.db.selectFrom('whatsapp_accounts').selectAll().where('phone_number_id', '=', phoneNumberId)
  expect(await stored.execute()).toEqual([])
})

test('changes nothing if there is no answer to the last question', async () => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber()
  const line = parseLine(whatsappConnect, [accountId, `--access-token=${accessToken}`, '--pin=246810'])

  const response = await whatsappConnect.run(server.deps, line, {
    ...nobody,
    ask: ({ preset, isOptional }) => Promise.resolve(isOptional ? undefined : preset),
  })

  expect(response).toMatchObject({ exitCode: 1, json: { ok: false, missing: '--test-to' } })
  expect((await listAudit(server.deps, { accountId, limit: 10 })).items).toEqual([])
})

test('requires a choice if the token has several numbers', async () => {
  const { accountId } = await server.account()
  const { accessToken, wabaId } = newNumber('CONNECTED')
  server.simulator.addPhoneNumber({ phoneNumberId: '310099999', wabaId, accessToken: 'other', status: 'CONNECTED' })

  const result = await connect([accountId, `--access-token=${accessToken}`])
  expect(result).toMatchObject({ exitCode: 1, text: expect.stringContaining('310099999') })
  const wrong = await connect([accountId, `--access-token=${accessToken}`, '--phone-number-id=4711', '--json'])
  expect(wrong).toMatchObject({ exitCode: 1, json: { message: 'The token may not use phone number ID 4711.' } })
  const chosen = await connect([accountId, `--access-token=${accessToken}`, '--phone-number-id=310099999', '--json'])
  expect(chosen.exitCode).toBe(0)
})

test.each([
  { token: { expiresAt: 1 }, says: 'Session has expired' },
  { token: { scopes: ['whatsapp_business_management'] }, says: 'lacks the permission whatsapp_business_messaging' },
  { token: { wabaIds: [] }, says: 'It has no access to a phone number' },
  { token: { refuses: { 'GET phone_numbers': 80007 as const } }, says: 'limit of API calls' },
])('stops at a token that cannot be used: $says', async ({ token, says }) => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber('CONNECTED', token)

  const response = await connect([accountId, `--access-token=${accessToken}`])

  expect(response).toMatchObject({ exitCode: 1, text: expect.stringContaining(says) })
  expect(response.text).toContain('→')
})

test('reports a failed step and continues with the others', async () => {
  const { accountId } = await server.account()
  const { accessToken } = newNumber('PENDING', { refuses: { 'POST register': 133016 } })

  const response = await connect([accountId, `--access-token=${accessToken}`, '--pin=123456'])

  expect(response.exitCode).toBe(1)
  expect(reported.join('\n')).toContain('✗ registration: The number was registered or deregistered too often')
  expect(reported.join('\n')).toContain('✓ templates')
})

test('reports a test message that Waybill itself rejects, and that the number is stored', async () => {
  const { accountId } = await server.account()
  const { accessToken, phoneNumberId } = newNumber('CONNECTED')
  await suspendAccount(server.deps, accountId)

  const response = await connect([accountId, `--access-token=${accessToken}`, '--test-to=34600111222', '--json'])

  const { whatsAppAccountId, steps } = jsonOf(response)
  expect(response.exitCode).toBe(1)
  expect(whatsAppAccountId).toMatch(/^wa_/)
  expect(steps.filter(({ ok }) => !ok)).toMatchObject([{ step: 'test', message: expect.stringContaining('suspended') }])
  expect(steps.at(-1)?.step).toBe('marketing')
  expect((await listAudit(server.deps, { accountId, limit: 10 })).items).toMatchObject([
    { what: `connected phone number ID ${phoneNumberId}`, outcome: 'done' },
  ])
})

test('replaces the token by `whatsapp update` only if WhatsApp accepts it', async () => {
  const { accountId } = await server.account()
  const number = newNumber('CONNECTED')
  const { whatsAppAccountId = '' } = jsonOf(
    await connect([accountId, `--access-token=${number.accessToken}`, '--json']),
  )
  server.simulator.addToken('EAAcommandReplaced', { appId: app.id, wabaIds: [number.wabaId] })
  const update = (token: string) =>
    runCommand(server.deps, 'whatsapp', 'update', whatsAppAccountId, `--access-token=${token}`)

  await expect(update('EAAwrong')).rejects.toThrow('WhatsApp rejects this access token')
  expect(await update('EAAcommandReplaced')).toMatchObject({ json: { whatsAppAccountId, active: true } })

  const audit = await server.deps.db
    .selectFrom('audit_entries')
    .select(['what', 'outcome'])
    .where('account_id', '=', accountId)
    .execute()
  expect(audit).toContainEqual({ what: `replaced the access token of ${whatsAppAccountId}`, outcome: 'refused' })
  expect(audit).toContainEqual({ what: `replaced the access token of ${whatsAppAccountId}`, outcome: 'done' })
})
