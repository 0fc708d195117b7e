import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { describeErasure } from '../../../src/cli/commands/recipient.ts'
import { type ErasureHooks, eraseRecipient } from '../../../src/messages/erasure/erase.ts'
import { post, sendOne } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { repliesCallback, text, userMessage } from '../../support/replies.ts'
import { startTestServer } from '../../support/server.ts'
import { runCommand } from '../run-command.ts'

const server = await forFile(startTestServer())

test('says that an open transaction prevents the last check of an erasure', async () => {
  const { deps } = server
  const open = await deps.db.startTransaction().execute()
  onTestFinished(async () => void (open.isCommitted || open.isRolledBack || (await open.rollback().execute())))
  await sql`insert into removed_media (id) values ('open')`.execute(open)
  const hooks: ErasureHooks = { audited: (_accountId, _what, run) => run() }

  const erased = await eraseRecipient(deps, { recipient: '34600700008' }, { ...hooks, maxSettleMilliseconds: 50 })

  expect(erased).toMatchObject({ complete: false, unsettled: true })
  expect(describeErasure(erased, { rewritten: true, isEmbedded: false })).toContain('pg_prepared_xacts')
  await open.rollback().execute()
  expect(await eraseRecipient(deps, { recipient: '34600700008' }, hooks)).toMatchObject({ complete: true })
})

test('says how much was erased, in the singular too', async () => {
  const account = await server.account()
  const number = '34600700005'
  const sent = await sendOne(account, { to: number })
  const callback = repliesCallback(account.phoneNumberId, [
    userMessage(text('Hello'), sent.waMessageId, { from: number }),
  ])
  expect((await post(server, callback)).statusCode).toBe(200)

  const erased = await runCommand(server.deps, 'recipient', 'erase', number, '--account', account.accountId)

  expect(erased.text).toContain('Erased the recipient from 1 message and from further rows')
  expect(erased.text).toContain('Removed the words of 1 reply from its event.')
})
