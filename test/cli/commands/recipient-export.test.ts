import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { exportRecipient } from '../../../src/cli/account-data/export-recipient.ts'
import { dataCommands, findCommand } from '../../../src/cli/commands.ts'
import { parseLine } from '../../../src/cli/syntax.ts'
import { post, report, sendOne, status } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { recordStatements } from '../../support/record-statements.ts'
import { repliesCallback, text, userMessage } from '../../support/replies.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { nobody, runCommand } from '../run-command.ts'

const server = await forFile(startTestServer())

interface Exported {
  recipient: string
  names: string[]
  records: { accountId: string; type: string; data: Record<string, unknown> }[]
}

async function exportPerson(...words: string[]): Promise<{ output: string; exported: Exported }> {
  const found = findCommand(dataCommands, ['recipient', 'export', ...words])
  if (!found) throw new Error('there is no command recipient export')
  const printed: string[] = []
  const print = (lines: string) => Promise.resolve(void printed.push(lines))
  await found.command.run(server.deps, parseLine(found.command, found.rest), { ...nobody, print })
  const output = printed.join('\n')
  return { output, exported: JSON.parse(output) as Exported }
}

const types = (records: Exported['records']) => Map.groupBy(records, ({ type }) => type)

async function reply(account: TestAccount, waMessageId: string, from: string, words: string): Promise<void> {
  const callback = repliesCallback(account.phoneNumberId, [userMessage(text(words), waMessageId, { from })])
  expect((await post(server, callback)).statusCode).toBe(200)
}

test('exports everything about a person, under each name, and nothing about others', async () => {
  const [account, second] = [await server.account(), await server.account()]
  await server.deps.db
    .updateTable('accounts')
    .set({ contents_kept_days: 30, contents_since: new Date(0) })
    .where('id', '=', account.accountId)
    .execute()
  const [number, other] = ['34600700001', '34600700002']
  const sent = await sendOne(account, { to: number, variables: { '1': 'Maria', '2': 'WB-1' } })
  await report(server, account, [{ ...status('delivered', sent.waMessageId), recipient_id: number }])
  await reply(account, sent.waMessageId, number, 'I have a question')
  await reply(account, sent.waMessageId, number, 'STOP')
  const toOther = await sendOne(account, { to: other, variables: { '1': 'Someone', '2': 'WB-2' } })
  await reply(account, toOther.waMessageId, other, `ask my sister at ${number}`)
  const code = { to: number, template: 'login_code', language: 'en', code: '731846' }
  expect((await account.post('/api/v1/code/send', code)).statusCode).toBe(200)
  await sendOne(second, { to: number })

  const { output, exported } = await exportPerson(`+${number}`)

  expect(exported).toMatchObject({ recipient: number, names: [number] })
  const ofAccount = exported.records.filter(({ accountId }) => accountId === account.accountId)
  const byType = types(ofAccount)
  expect([...byType.keys()]).toEqual([
    'recipientIdentity',
    'suppression',
    'oneTimeCode',
    'message',
    'messageContent',
    'event',
  ])
  expect(byType.get('message')?.map(({ data }) => data)).toEqual(
    expect.arrayContaining([expect.objectContaining({ messageId: sent.messageId, to: number, status: 'delivered' })]),
  )
  expect(byType.get('messageContent')).toMatchObject([{ data: { values: { variables: { '1': 'Maria' } } } }])
  expect(byType.get('suppression')).toMatchObject([{ data: { to: number, suppressed: true } }])
  expect(byType.get('suppression')).not.toMatchObject([{ data: { addedBy: expect.anything() } }])
  expect(byType.get('oneTimeCode')).toMatchObject([{ data: { to: number, attemptsLeft: 5 } }])
  expect(JSON.stringify(byType.get('event'))).toContain('I have a question')
  expect([...types(exported.records.filter(({ accountId }) => accountId === second.accountId)).keys()]).toContain(
    'message',
  )
  for (const secret of [other, 'my sister', 'Someone', code.code, account.apiKey]) expect(output).not.toContain(secret)
  const { items } = (await runCommand(server.deps, 'audit', 'list', account.accountId)).json as {
    items: { what: string; outcome: string }[]
  }
  expect(items[0]).toMatchObject({ what: 'exported the data of a recipient', outcome: 'done' })
})

test('exports one account only, and nothing about a person who is not stored', async () => {
  const [account, second] = [await server.account(), await server.account()]
  const number = '34600700003'
  for (const one of [account, second]) await sendOne(one, { to: number })

  const { exported } = await exportPerson(number, '--account', account.accountId)
  expect(new Set(exported.records.map(({ accountId }) => accountId))).toEqual(new Set([account.accountId]))

  expect((await exportPerson('34600700009')).exported.records).toEqual([])
  await expect(exportPerson(number, '--account', 'acc_none')).rejects.toThrow('There is no account "acc_none"')
  await expect(exportPerson('600 111')).rejects.toThrow('RECIPIENT')
})

test('exports more records than a page has, as one JSON document', async () => {
  const account = await server.account({ rateLimit: 100_000 })
  const number = '34600700004'
  const ids = new Set<string>()
  for (let index = 0; index < 8; index += 1) {
    const sent = await Promise.all(Array.from({ length: 64 }, () => sendOne(account, { to: number })))
    for (const { messageId } of sent) ids.add(messageId)
  }

  const { exported } = await exportPerson(number, '--account', account.accountId)

  const messages = exported.records.filter(({ type }) => type === 'message')
  expect(new Set(messages.map(({ data }) => data['messageId']))).toEqual(ids)
})

test('reads the events of an account in short statements', async () => {
  const { db, newId } = server.deps
  const { accountId } = await server.account()
  const [number, count] = ['34600700006', 4_500]
  const ids = Array.from({ length: count }, () => newId('evt')).toSorted()
  const recipients = ids.map((_, index) => ([0, 1_999, 2_000, 4_499].includes(index) ? number : '34600700007'))
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select ${accountId}, id, 'message.sent', 'msg_1', json_build_object('data', json_build_object('to', recipient)), now()
    from unnest(${ids}::text[], ${recipients}::text[]) as e (id, recipient)`.execute(db)
  const { db: recorder, statements } = recordStatements(db)

  const pages = await Array.fromAsync(exportRecipient({ ...server.deps, db: recorder }, accountId, [number]))

  expect(pages.flat().map(({ data }) => data)).toMatchObject(
    [0, 1_999, 2_000, 4_499].map((index) => ({ eventId: ids[index] })),
  )
  expect(statements.filter((text) => text.includes('payload ~'))).toHaveLength(Math.ceil(count / 2_000))
})
