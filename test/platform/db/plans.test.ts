import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { messagesCallback, post, report, sendOne, status } from '../../support/callbacks.ts'
import { startTestServer } from '../../support/server.ts'

/** So often, PostgreSQL plans a prepared statement for its values before it tries a plan for all values (PREPARE). */
const firstPlans = 5

test('plans no statement of a send or a status each time', async () => {
  const server = await startTestServer()
  onTestFinished(() => server.close())
  const account = await server.account()
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/hook' })
  const phoneNumberId = `${account.phoneNumberId}9`
  await account.addWhatsAppAccount({ phoneNumberId, appSecret: 'own-secret' })
  for (let count = 0; count < 3 * firstPlans; count++) {
    const { messageId, waMessageId } = await sendOne(account)
    await report(server, account, [status('delivered', waMessageId, { callbackData: messageId })])
    // The secret is found by the phone number.
    await post(server, messagesCallback(phoneNumberId, []), { secret: 'own-secret' })
  }

  // They ran one after another, and so on one connection.
  const { rows } = await sql<{ name: string; planned: number; executed: number }>`
    select name, custom_plans::integer as planned, (custom_plans + generic_plans)::integer as executed
    from pg_prepared_statements`.execute(server.deps.db)
  const often = rows.filter(({ executed }) => executed > 2 * firstPlans)
  expect(often.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'find_caller',
      'settle_accepted',
      'find_callback_secrets',
      'find_callback_senders',
      'insert_events',
    ]),
  )
  expect(often.filter(({ planned }) => planned > firstPlans)).toEqual([])
})
