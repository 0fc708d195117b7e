import { expect, test } from 'vitest'
import { removeMemberAsOperator } from '../../../src/users/change-member.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import { runCommand } from '../run-command.ts'
import { signedInOwner } from '../../support/user.ts'

const server = await forFile(startTestServer())
const accountId = (await server.account()).accountId
const user = await signedInOwner(server, accountId, { email: 'ada.operator@example.com' })

async function run(...words: string[]): Promise<{ json: Record<string, unknown>; text: string }> {
  const { json, text } = await runCommand(server.deps, ...words)
  return { json: json as Record<string, unknown>, text }
}

async function auditLog(): Promise<string[]> {
  const { data } = await user.query<{ items: { who: string; what: string; address: string }[] }>('audit.list', {
    accountId,
  })
  return data.items.map(({ who, what, address }) => `${who} ${what} (${address})`)
}

test('grants, lists and revokes operators, which members of their accounts see', async () => {
  const granted = await run('operator', 'grant', '--email', 'Ada.Operator@Example.com')
  expect(granted.json).toMatchObject({ email: user.email, twoFactor: false })
  expect(granted.text).toContain('set up an authenticator app')
  await run('operator', 'grant', '--email', user.email)
  expect((await run('operator', 'list')).json).toMatchObject({ items: [{ email: user.email, name: 'Ada' }] })
  expect((await user.query('session.get')).data).toMatchObject({ operator: 'needs_authenticator' })

  expect((await run('operator', 'revoke', '--email', user.email)).json).toEqual({ email: user.email, revoked: true })

  expect((await run('operator', 'list')).json).toEqual({ items: [] })
  expect((await user.query('session.get')).data).not.toHaveProperty('operator')
  expect(await auditLog()).toEqual(
    expect.arrayContaining([
      `operator made ${user.email} an operator of this server (command line)`,
      `operator revoked the operator access of ${user.email} (command line)`,
    ]),
  )
})

test('rejects unknown users and users who are not operators', async () => {
  await expect(run('operator', 'grant', '--email', 'nobody@example.com')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    remedy: expect.stringContaining('waybill owner invite'),
  })
  await expect(run('operator', 'revoke', '--email', user.email)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(run('operator', 'grant')).rejects.toThrow('--email')
})

test('suspends and resumes an account', async () => {
  const suspended = await run('account', 'suspend', accountId)
  expect(suspended.json).toMatchObject({ accountId, api: 'enabled', suspendedAt: expect.any(String) })
  expect(suspended.text).toMatch(/^API +suspended$/m)
  expect((await run('account', 'list')).text).toContain('suspended')

  const resumed = await run('account', 'resume', accountId)
  expect(resumed.json).not.toHaveProperty('suspendedAt')
  expect(resumed.text).toMatch(/^API +enabled$/m)
  await expect(run('account', 'suspend', 'acc_none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await auditLog()).slice(0, 2)).toEqual([
    'operator resumed the account (command line)',
    'operator suspended the account (command line)',
  ])
})

test('keeps an operator who leaves their last account', async () => {
  const other = (await server.account()).accountId
  const operator = await signedInOwner(server, other)
  await run('operator', 'grant', '--email', operator.email)

  await removeMemberAsOperator(server.deps, other, operator.email)

  expect((await run('operator', 'list')).json).toMatchObject({ items: [{ email: operator.email }] })
  await operator.signIn()
  expect((await operator.query('session.get')).data).toMatchObject({ accounts: [], operator: 'needs_authenticator' })
})
