import { expect, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { dataCommands } from '../../../src/cli/commands.ts'
import { listAudit } from '../../../src/users/audit/audit.ts'
import { createTestDeps } from '../../support/deps.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { runCommand } from '../run-command.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)
const accountId = (await createAccount(deps, { name: 'Shop' })).accountId

async function run(...words: string[]): Promise<Record<string, string>> {
  const { json } = await runCommand(deps, ...words)
  return json as Record<string, string>
}

function insertPending(id: string) {
  return database.db
    .insertInto('messages')
    .values({
      account_id: accountId,
      id,
      whatsapp_account_id: 'wa_1',
      status: 'pending',
      to_number: '34600111222',
      template_name: 't',
      template_language: 'en',
      created_at: new Date(),
      recorded_at: new Date(Date.now() - 120_000),
    })
    .execute()
}

async function log(of = accountId): Promise<string[]> {
  const { items } = await listAudit(deps, { accountId: of, limit: 100 })
  for (const entry of items) expect(entry).toMatchObject({ who: 'operator', address: 'command line' })
  return items.map(({ what, outcome }) => `${what}: ${outcome}`).toReversed()
}

test('records changes by an operator in the audit log, including refused ones', async () => {
  await run('key', 'generate', accountId)
  await run('key', 'generate', accountId).catch(() => {})
  await run('account', 'update', accountId, '--api', 'disabled', '--rate-limit', '600')
  await run('account', 'update', accountId).catch(() => {})
  await run('allow-list', 'set', accountId, '192.0.2.10', '2001:db8::/32')
  await run('owner', 'invite', accountId, '--email', 'ada@example.com', '--role', 'viewer')
  const sender = ['--phone-number-id', '1', '--waba-id', '2', '--access-token', 'EAAsecret']
  const { whatsAppAccountId } = await run('whatsapp', 'add', accountId, ...sender)
  await run('whatsapp', 'add', accountId, ...sender.with(1, '3'), '--unverified')
  await run('whatsapp', 'deactivate', whatsAppAccountId ?? '')
  await run('key', 'revoke', 'acc_none').catch(() => {})
  await run('whatsapp', 'remove', 'wa_none').catch(() => {})
  await insertPending('msg_1')
  await run('message', 'resolve', 'msg_1', '--as', 'sent')
  await run('message', 'resolve', 'msg_1', '--as', 'failed').catch(() => {})
  await run('message', 'resolve', 'msg_none', '--as', 'failed').catch(() => {})
  await run('account', 'list')

  expect(await log()).toEqual([
    'generated the API key: done',
    'generated the API key: refused',
    'disabled API access and set the rate limit to 600 a minute: done',
    'set the allow-list to 192.0.2.10, 2001:db8::/32: done',
    'invited ada@example.com as viewer: done',
    'added the WhatsApp account of phone number ID 1: done',
    'added the WhatsApp account of phone number ID 3 unverified: done',
    `deactivated ${whatsAppAccountId}: done`,
    'resolved msg_1 as sent: done',
    'resolved msg_1 as failed: refused',
  ])
})

test('audits every command that changes an existing account', () => {
  const unrecorded = dataCommands.filter(({ isAudited }) => !isAudited).map(({ name }) => name)

  // `account remove` and `recipient erase` record their entries themselves; the others change no existing account.
  expect(unrecorded.toSorted()).toEqual([
    'account create',
    'account list',
    'account remove',
    'alert list',
    'alert show',
    'audit export',
    'audit list',
    'audit verify',
    'doctor',
    'media get',
    'message get',
    'message list',
    'migrate',
    'operator list',
    'owner list',
    'rates import',
    'rates list',
    'rates remove',
    'rates show',
    'recipient erase',
    'rekey',
    'request get',
    'request list',
    'suppression list',
    'template export',
    'template list',
    'webhook deliveries',
    'webhook list',
    'whatsapp list',
  ])
})

test('records the erasure of a recipient and the removal of an account, which write their own entries', async () => {
  const removed = (await createAccount(deps, { name: 'Closed' })).accountId
  await run('recipient', 'erase', '34600999888', '--account', removed)
  await run('account', 'remove', removed)
  await run('account', 'remove', removed, '--confirm', removed)

  expect(await log(removed)).toEqual(['erased a recipient: done', 'removed the account: done'])
})
