import { expect, test } from 'vitest'
import { syncTemplates } from '../../../src/templates/sync.ts'
import { sendOne } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'

const server = await forFile(startTestServer())

test.each([
  { category: 'UTILITY', endpoint: 'messages' },
  { category: 'MARKETING', endpoint: 'marketing_messages' },
])('names the messaging account that pays for $category, if it is set to', async ({ category, endpoint }) => {
  const account = await server.account()
  const { accountId, whatsAppAccountId, wabaId, phoneNumberId } = account
  const owner = await signedInOwner(server, accountId)
  server.simulator.templatesOf(wabaId).set('order_shipped', 'en', { category })
  await syncTemplates(server.deps, accountId)
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ marketing_onboarding_status: 'ONBOARDED' })
    .where('id', '=', whatsAppAccountId)
    .execute()

  for (const setting of ['omit', 'send', 'omit'] as const) {
    const changed = await owner.mutate('whatsAppAccount.setMessagingAccount', { accountId, whatsAppAccountId, setting })
    expect(changed.data).toMatchObject({ messagingAccountSetting: setting })
    await sendOne(account)
  }

  const bodies = server.simulator.requests.filter(({ path }) => path === `/${phoneNumberId}/${endpoint}`)
  expect(bodies.map(({ body }) => (body as Record<string, unknown>)['messaging_account_id'])).toEqual([
    undefined,
    wabaId,
    undefined,
  ])
})
