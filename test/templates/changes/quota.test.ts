import { expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

/** Templates that the test account has at WhatsApp. */
const given = 16

const server = await forFile(
  startTestServer({ deps: { quotas: { suppressions: 1, templates: given + 1, savedViews: 1 } } }),
)

test('creates no more templates than the quota, deleted ones included', async () => {
  const account = await server.account()
  await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
  const { db } = server.deps
  const stored = await db.selectFrom('templates').select('name').where('account_id', '=', account.accountId).execute()
  expect(stored).toHaveLength(given)
  const create = (name: string) => account.post('/api/v1/template/create', { ...createTemplate.example.input, name })

  expect((await create('first')).statusCode).toBe(200)
  await account.post('/api/v1/template/delete', { name: 'first', language: 'en' })
  const refused = await create('second')

  expect(refused.statusCode).toBe(422)
  expect(refused.json().error).toEqual({
    code: 'TEMPLATE_REFUSED',
    message:
      'This account has reached its quota of 17 templates, deleted ones included (WAYBILL_TEMPLATE_QUOTA). Nothing was created. Ask the operator for a higher quota.',
  })
  expect(
    server.simulator
      .templatesOf(account.wabaId)
      .all()
      .map(({ name }) => name),
  ).not.toContain('second')
})
