import { expect, test } from 'vitest'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { createInstallation } from './installation.ts'
import { forFile } from '../support/lifetime.ts'

const simulator = await forFile(startSimulator())
const waybill = await forFile(createInstallation(simulator.url))
async function createAccount(): Promise<string> {
  return (await waybill.json(['account', 'create', '--name', 'Shop'])).accountId
}

function addArguments(accountId: string): string[] {
  const { phoneNumberId, wabaId } = simulator
  return ['whatsapp', 'add', accountId, '--phone-number-id', phoneNumberId, '--waba-id', wabaId]
}

test('creates, lists and updates an account', async () => {
  const created = await waybill.json(['account', 'create', '--name', 'Ada & Co'])
  expect(created).toEqual({ accountId: expect.stringMatching(/^acc_[0-9a-z]{26}$/), name: 'Ada & Co' })
  const { accountId } = created

  const changed = await waybill.json(['account', 'update', accountId, '--api', 'disabled', '--rate-limit', '600'])
  expect(changed).toMatchObject({ accountId, api: 'disabled', rateLimit: 600 })

  expect((await waybill.json(['account', 'list'])).items).toContainEqual(changed)
  const { stdout } = await waybill.run(['account', 'list'])
  expect(stdout).toMatch(new RegExp(`${accountId} +Ada & Co +disabled +600 +any address +none`))
})

test('prints a key only when it is generated', async () => {
  const accountId = await createAccount()

  const key = await waybill.json(['key', 'generate', accountId])
  expect(key).toEqual({
    apiKey: expect.stringMatching(/^wb_live_[0-9a-f]{64}$/),
    start: key.apiKey.slice(0, key.start.length),
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
  })

  const again = await waybill.run(['key', 'generate', accountId, '--json'])
  expect(again).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('key regenerate') })
  const renewed = await waybill.run(['key', 'regenerate', accountId])
  expect(renewed.stdout).toMatch(/^wb_live_[0-9a-f]{64}\n/)
  expect((await waybill.run(['account', 'list'])).stdout).not.toMatch(/wb_live_[0-9a-f]{64}/)
  expect(await waybill.json(['key', 'revoke', accountId])).toEqual({ accountId, revoked: true })
})

test('sets and clears an allow-list', async () => {
  const accountId = await createAccount()

  expect(await waybill.json(['allow-list', 'set', accountId, '192.0.2.7/24', '2001:DB8::1'])).toEqual({
    allowList: ['192.0.2.0/24', '2001:db8::1'],
  })
  expect(await waybill.json(['allow-list', 'set', accountId])).toEqual({ allowList: [] })

  const wrong = await waybill.run(['allow-list', 'set', accountId, 'localhost'])
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('"localhost"') })
})

test('turns the storage of message contents on and off, and records it', async () => {
  const accountId = await createAccount()
  const update = (value: string) => ['account', 'update', accountId, '--message-contents', value]

  expect(await waybill.json(update('30'))).toMatchObject({ messageContentsDays: 30 })
  expect((await waybill.run(update('1'))).stdout).toMatch(/Message contents +stored for 1 day$/m)
  for (const wrong of ['0', '366', 'on'])
    expect(await waybill.run(update(wrong))).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('1 to 365 days'),
    })
  expect(await waybill.json(update('off'))).not.toHaveProperty('messageContentsDays')
  const { items } = await waybill.json(['audit', 'list', accountId])
  expect(items[0]?.['what']).toBe('stopped storing message contents and deleted those stored')
})

test('adds a WhatsApp account with secrets from standard input', async () => {
  const accountId = await createAccount()
  const stdin = `${simulator.accessToken}\napp-secret-1\n`

  const added = await waybill.json([...addArguments(accountId), '--access-token', '-', '--app-secret', '-'], { stdin })
  expect(added).toEqual({ whatsAppAccountId: expect.stringMatching(/^wa_/), subscribed: true })
  expect(await waybill.json(['template', 'sync', accountId])).toEqual({ synced: 16, approved: 14 })
  const templates = await waybill.json(['template', 'list', accountId, '--status', 'APPROVED'])
  expect(templates.items).toHaveLength(14)
  const { stdout: listed } = await waybill.run(['template', 'list', accountId])
  expect(listed).toMatch(/^order_shipped +en +APPROVED +UTILITY +none +1,2 +variables *$/m)
  expect(listed).toMatch(/^invoice +en +APPROVED +UTILITY +DOCUMENT +1 +variables,header,buttons *$/m)
  expect(await waybill.json(['message', 'list', accountId])).toEqual({ items: [] })
  expect(await waybill.json(['doctor'])).toMatchObject({ ok: true, findings: expect.any(Array) })
  // The token, the app secret, and the key of the audit log.
  expect(await waybill.json(['rekey'])).toEqual({
    secrets: 3,
    rekeyed: 0,
    messageContents: { stored: 0, rekeyed: 0, unreadable: 0 },
  })

  await waybill.json(['whatsapp', 'remove', added.whatsAppAccountId])
})

test('deactivates, activates, makes default and removes a WhatsApp account', async () => {
  const accountId = await createAccount()
  const { whatsAppAccountId: id } = await waybill.json([
    ...addArguments(accountId),
    '--access-token',
    'EAA',
    '--unverified',
  ])

  const list = await waybill.json(['whatsapp', 'list', accountId])
  expect(list.items).toMatchObject([{ whatsAppAccountId: id, isDefault: true, active: true, hasAppSecret: false }])
  expect(await waybill.json(['whatsapp', 'deactivate', id])).toMatchObject({ whatsAppAccountId: id, active: false })
  expect(await waybill.json(['whatsapp', 'activate', id])).toMatchObject({ active: true })
  expect(await waybill.json(['whatsapp', 'set-default', id])).toMatchObject({ isDefault: true })
  expect(await waybill.json(['whatsapp', 'remove', id])).toEqual({ whatsAppAccountId: id })
})

test('never prints a token, neither in lists nor in errors', async () => {
  const accountId = await createAccount()
  const unverified = [...addArguments(accountId), '--unverified']
  const outputs = [
    await waybill.run([...addArguments(accountId), '--access-token', 'EAAsecret', '--app-secret', 'se cret']),
    await waybill.run([...addArguments(accountId), '--access-token', 'EAAsecret', '--app-secret', 'hushhush']),
    await waybill.run([...unverified, '--access-token', 'EAAsecret', '--app-secret', 'hushhush']),
    await waybill.run([...unverified, '--access-token', 'EAAsecret', '--app-secret', 'hushhush']),
    await waybill.run(['whatsapp', 'list', accountId, '--json']),
    await waybill.run(['template', 'sync', accountId], { env: { LOG_LEVEL: 'debug' } }),
    await waybill.run(['whatsapp', 'list', accountId]),
    await waybill.run(['doctor'], { env: { LOG_LEVEL: 'debug' } }),
  ]

  expect(outputs.map(({ exitCode }) => exitCode)).toEqual([1, 1, 0, 1, 0, 1, 0, 1])
  expect(JSON.stringify(outputs)).not.toMatch(/EAAsecret|hushhush|se cret/)
  expect(outputs[6]?.stdout).toContain('inactive: ')
})

test('reports an unknown message, and how to find one by its external ID', async () => {
  expect(await waybill.run(['message', 'get', 'order-1042'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr:
      'There is no message "order-1042". To find a message by its external ID, run: waybill message list ACC --external-id REF\n',
  })
})

test('names an invalid environment variable without its value', async () => {
  const { exitCode, stderr } = await waybill.run(['account', 'list'], {
    env: { WAYBILL_SECRET_KEY: 'too-short', LOG_LEVEL: 'loud' },
  })

  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/WAYBILL_SECRET_KEY: must be 32 bytes/)
  expect(stderr).toMatch(/LOG_LEVEL: must be one of/)
  expect(stderr).not.toContain('too-short')
})

test('changes how an account receives alerts', async () => {
  const accountId = await createAccount()

  expect(await waybill.json(['alert', 'show', accountId])).toEqual({
    failureRatePercent: 20,
    failureRateMinMessages: 20,
    deliveryLagSeconds: 300,
    noStatusMinMessages: 10,
    quietHours: null,
    repeatHours: null,
    emails: false,
  })
  await waybill.json([
    'alert',
    'update',
    accountId,
    '--failure-rate',
    '10',
    '--min-messages',
    '5',
    '--delivery-lag',
    'off',
    '--missing-statuses',
    '3',
  ])
  const quiet = ['--quiet-hours', '22:00-07:00', '--time-zone', 'Europe/Madrid', '--except-critical']
  expect(await waybill.json(['alert', 'update', accountId, ...quiet, '--repeat', '4'])).toMatchObject({
    failureRatePercent: 10,
    failureRateMinMessages: 5,
    deliveryLagSeconds: null,
    noStatusMinMessages: 3,
    quietHours: { timeZone: 'Europe/Madrid', from: '22:00', until: '07:00', exceptCritical: true },
    repeatHours: 4,
  })
  expect((await waybill.run(['alert', 'show', accountId])).stdout).toContain('22:00 to 07:00 (Europe/Madrid)')

  for (const [wrong, complaint] of [
    [['update', accountId, '--failure-rate', '0'], '--failure-rate must be at least 1'],
    [['update', accountId, '--min-messages', '0'], '--min-messages must be at least 1'],
    [['update', accountId, '--missing-statuses', '0'], '--missing-statuses must be at least 1'],
    [['update', accountId, '--quiet-hours', '25:00-07:00'], '--quiet-hours must be a time of day'],
    [['update', accountId, '--quiet-hours', '07:00-07:00'], '--quiet-hours must differ'],
    [['update', accountId, '--quiet-hours', '22:00-07:00', '--time-zone', 'Mars'], '--time-zone must be the name'],
    [['update', accountId, '--time-zone', 'UTC'], 'need --quiet-hours'],
    [['update', accountId, '--repeat', 'x'], '--repeat'],
    [['acknowledge', accountId, 'alr_none'], 'No alert has the ID'],
    [['test', accountId], 'posts to no chat'],
    [['set-chat', accountId, '--url', 'http://127.0.0.1/s3cr3t', '--format', 'slack'], 'https URL'],
    [['show', 'acc_none'], 'acc_none'],
  ] as const) {
    const { exitCode, stderr } = await waybill.run(['alert', ...wrong])
    expect(stderr).toContain(complaint)
    expect(stderr).not.toContain('s3cr3t')
    expect(exitCode).not.toBe(0)
  }
  expect((await waybill.run(['audit', 'list', accountId])).stdout).toContain(
    'changed quiet hours and repetition of alerts',
  )
})

test('keeps the suppression list of an account', async () => {
  const accountId = await createAccount()
  const numbers = ['34600000001', '34600000002', '34600000001']

  expect(await waybill.json(['suppression', 'import', accountId, ...numbers])).toEqual({
    added: 2,
    alreadySuppressed: 1,
  })
  expect(await waybill.json(['suppression', 'add', accountId, '34600000003'])).toMatchObject({ added: true })
  expect(await waybill.json(['suppression', 'remove', accountId, '34600000001'])).toMatchObject({ removed: true })
  expect(await waybill.json(['suppression', 'add', accountId, '34600000003', '--all-messages'])).toMatchObject({
    added: false,
    allMessages: true,
  })
  expect(await waybill.json(['suppression', 'add', accountId, 'ES.1001'])).toMatchObject({ added: true })
  expect((await waybill.json(['suppression', 'list', accountId, '--to', 'ES.1001'])).items).toHaveLength(1)
  expect(await waybill.json(['suppression', 'remove', accountId, 'ES.1001'])).toMatchObject({ removed: true })
  expect(await waybill.json(['suppression', 'categories', accountId, 'UTILITY'])).toEqual({
    categories: ['MARKETING', 'UTILITY'],
  })
  const { stdout } = await waybill.run(['suppression', 'list', accountId, '--limit', '1'])
  expect(stdout).toMatch(/34600000003 +all messages +manual/)
  expect(stdout).toMatch(/MARKETING, UTILITY templates\.\nMore: --cursor sup_/)
  expect((await waybill.json(['suppression', 'list', accountId, '--reason', 'import'])).items).toMatchObject([
    { to: '34600000002' },
  ])

  for (const wrong of [
    ['import', accountId, '34600000009', '+34600'],
    ['list', accountId, '--limit', '0'],
    ['list', accountId, '--reason', 'mood'],
    ['categories', accountId, 'ALL'],
    ['add', 'acc_unknown', '34600000001'],
  ])
    expect((await waybill.run(['suppression', ...wrong])).exitCode).not.toBe(0)
  expect((await waybill.json(['suppression', 'list', accountId, '--to', '34600000009'])).items).toEqual([])
  const log = await waybill.run(['audit', 'list', accountId])
  expect(log.stdout).toContain('added 3 recipients to the suppression list')
  expect(log.stdout).not.toContain('34600')
})
