import { expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { contractCommand } from '../../src/cli/contract-command.ts'
import { dataCommands, findCommand } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/failure.ts'
import { isValueOption } from '../../src/cli/syntax.ts'
import { listSuppressions } from '../../contracts/dashboard/suppression.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { createTestDeps } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { forFile } from '../support/lifetime.ts'
import { runCommand } from './run-command.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)
const accountId = (await createAccount(deps, { name: 'Shop' })).accountId

function optionOf(words: string, name: string) {
  const option = findCommand(dataCommands, words.split(' '))?.command.options[name]
  return option && isValueOption(option) ? option : undefined
}

test('takes required options, choices, numbers and lists from the contract', () => {
  expect(optionOf('webhook add', 'url')?.required).toBe(true)
  expect(optionOf('webhook update', 'url')?.required).toBeUndefined()
  expect(optionOf('owner invite', 'role')).toMatchObject({ choices: ['owner', 'viewer'] })
  expect(optionOf('message list', 'limit')).toMatchObject({ number: true })
  expect(optionOf('webhook add', 'header')).toMatchObject({ multiple: true, secret: true })
})

test('rejects a row with an option that is no field of its contract', () => {
  const row = { name: 'suppression show', summary: '', examples: [], options: { colour: { value: 'C', help: '' } } }
  expect(() => contractCommand(listSuppressions, { ...row, text: () => '' })).toThrow('no field colour')
})

test('names the option whose value the contract rejects', async () => {
  const rejected = runCommand(deps, 'suppression', 'list', accountId, '--limit', '101')

  await expect(rejected).rejects.toThrow(new UsageError('--limit must be at most 100.'))
})

test('repeats the item of a list that the contract rejects', async () => {
  const add = ['webhook', 'add', accountId, '--url', 'https://example.com/webhooks']

  await expect(runCommand(deps, ...add, '--events', 'message.sent, message.foo')).rejects.toThrow(
    /^--events "message\.foo" must be an event type: message\.sent, /,
  )
})

test('repeats the argument that the contract rejects, and imports no other', async () => {
  const rejected = runCommand(deps, 'suppression', 'import', accountId, '34600111222', '+34')

  await expect(rejected).rejects.toThrow(/^"\+34" must be the country code/)
  expect((await runCommand(deps, 'suppression', 'list', accountId)).json).toMatchObject({ items: [] })
})

test('imports more recipients than one call of the procedure takes', async () => {
  const numbers = Array.from({ length: 1001 }, (_, index) => String(34_600_200_000 + index))

  const { json } = await runCommand(deps, 'suppression', 'import', accountId, ...numbers, '34600200000')

  expect(json).toEqual({ added: 1001, alreadySuppressed: 1 })
})

test('never repeats a secret that the contract rejects', async () => {
  const token = 'EAA secret with spaces'
  const sender = ['--phone-number-id', '1', '--waba-id', '2', '--access-token', token]

  const problem: unknown = await runCommand(deps, 'whatsapp', 'add', accountId, ...sender).catch((error) => error)

  expect(problem).toBeInstanceOf(ServiceError)
  expect(String(problem)).toContain('--access-token must not be empty or hold a space')
  expect(String(problem)).not.toContain('secret')
})

test('records no change whose input the contract rejects, as in the dashboard', async () => {
  const shop = (await createAccount(deps, { name: 'Other' })).accountId
  await runCommand(deps, 'suppression', 'add', shop, '+34').catch(() => {})
  await runCommand(deps, 'allow-list', 'set', shop, 'localhost').catch(() => {})

  const { items } = await listAudit(deps, { accountId: shop, limit: 10 })

  expect(items).toMatchObject([
    { who: 'operator', what: 'set the allow-list to localhost', address: 'command line', outcome: 'refused' },
  ])
})
