import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { messagesCallback, post, report, sendOne, status } from '../../support/callbacks.ts'
import { startTestServer } from '../../support/server.ts'

/** So often, PostgreSQL plans a prepared statement for its values before it tries a plan for all values (PREPARE). */
const firstPlans = 5

const expected = ['find_caller', 'settle_accepted', 'find_callback_secrets', 'find_callback_senders', 'insert_events']

test('plans no statement of a send or a status each time', async () => {
  const server = await startTestServer()
  onTestFinished(() => server.close())
  const account = await server.account()
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/hook' })
  const phoneNumberId = `${account.phoneNumberId}9`
  await account.addWhatsAppAccount({ phoneNumberId, appSecret: 'own-secret' })
  const sendAndReport = async () => {
    const { messageId, waMessageId } = await sendOne(account)
    await report(server, account, [status('delivered', waMessageId, { callbackData: messageId })])
    // The secret is found by the phone number.
    await post(server, messagesCallback(phoneNumberId, []), { secret: 'own-secret' })
  }
  /** The statements that the connection of this query has executed often. */
  const findOften = async () => {
    const { rows } = await sql<{ name: string; planned: number }>`
      select name, custom_plans::integer as planned from pg_prepared_statements
      where custom_plans + generic_plans > ${2 * firstPlans}`.execute(server.deps.db)
    return rows
  }

  let often = await findOften()
  // Several connections can share the statements.
  while (!expected.every((name) => often.some((found) => found.name === name))) {
    await sendAndReport()
    often = await findOften()
  }
  expect(often.filter(({ planned }) => planned > firstPlans)).toEqual([])
})
