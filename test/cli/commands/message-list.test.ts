import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { createTestDeps } from '../../support/deps.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { runCommand } from '../run-command.ts'

const database = await forFile(openTestDatabase())

test('distinguishes a search that stopped early from one without results', async () => {
  const deps = createTestDeps(database)
  const { accountId } = await createAccount(deps, { name: 'Shop' })
  const search = async (...words: string[]) =>
    (await runCommand(deps, 'message', 'list', accountId, '--status', 'failed', ...words)).text
  expect(await search()).toBe('No messages.')
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      created_at)
    select ${accountId}, 'msg_' || lpad(n::text, 26, '0'), 'wa_1', case n when 0 then 'failed' else 'sent' end,
      '34600111222', 'order_shipped', 'en', now()
    from generate_series(0, 50000) as n`.execute(deps.db)

  const stopped = await search()

  expect(stopped).toMatch(/^No matches among the newest messages\.\n\nMore: --cursor msg_/)
  expect(await search('--cursor', stopped.split(' ').at(-1) ?? '')).toContain(`msg_${'0'.repeat(26)}`)
})
