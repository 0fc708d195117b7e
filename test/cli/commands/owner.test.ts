import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { openCookieBrowser, type CookieBrowser } from '../../support/cookie-browser.ts'
import { createInstallation } from '../installation.ts'
import { forFile } from '../../support/lifetime.ts'

const env = { WAYBILL_PUBLIC_URL: 'http://waybill.localhost:3000' }
const simulator = await forFile(startSimulator())
const waybill = await forFile(createInstallation(simulator.url))
const server = await waybill.serve({ env })
const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
const email = 'ada@example.com'

async function tokenOf(command: string[]): Promise<string> {
  const { url } = (await waybill.json(command, { env })) as unknown as { url: string }
  expect(url).toMatch(/^http:\/\/waybill\.localhost:3000\/settings\/invitation\//)
  return url.split('/').at(-1) ?? ''
}

async function accept(token: string, password: string): Promise<number> {
  const url = `${server.url}/settings/trpc/settings.invitation.accept`
  return (await openCookieBrowser().post(url, { token, name: 'Ada', password })).status
}

async function signIn(browser: CookieBrowser, password: string): Promise<number> {
  return (await browser.post(`${server.url}/settings/auth/sign-in/email`, { email, password })).status
}

async function session(browser: CookieBrowser): Promise<number> {
  return (await browser.get(`${server.url}/settings/trpc/settings.session.get`)).status
}

test('invites a user, resets their password and removes them', async () => {
  const [first, second] = ['correct horse battery staple', 'a new one, which is long as well']
  expect(await accept(await tokenOf(['owner', 'invite', accountId, '--email', email]), first)).toBe(200)
  const browser = openCookieBrowser()
  expect(await signIn(browser, first)).toBe(200)
  expect((await waybill.json(['owner', 'list', accountId])).items).toMatchObject([
    { email, name: 'Ada', role: 'owner' },
  ])

  const reset = await tokenOf(['owner', 'reset-password', accountId, '--email', 'Ada@Example.com'])
  expect(await session(browser)).toBe(401)
  expect(await signIn(browser, first)).toBe(401)
  expect(await accept(reset, second)).toBe(200)
  expect(await signIn(browser, second)).toBe(200)
  expect(await session(browser)).toBe(200)
  const input = encodeURIComponent(JSON.stringify({ accountId }))
  const log = await browser.get(`${server.url}/settings/trpc/settings.audit.list?input=${input}`)
  expect(await log.text()).toContain('reset the password of Ada@Example.com')

  await waybill.json(['owner', 'remove', accountId, '--email', email])
  expect(await session(browser)).toBe(401)
  expect(await signIn(browser, second)).toBe(401)
  expect((await waybill.json(['owner', 'list', accountId])).items).toEqual([])
})

test('invalidates older links of a user, and all links when the user is removed', async () => {
  const reset = () => tokenOf(['owner', 'reset-password', accountId, '--email', email])
  const wrong = await tokenOf(['owner', 'invite', accountId, '--email', email])
  const invited = await tokenOf(['owner', 'invite', accountId, '--email', email, '--role', 'viewer'])
  expect(await waybill.json(['owner', 'list', accountId])).toMatchObject({
    items: [],
    invitations: [{ email, role: 'viewer' }],
  })
  expect((await waybill.run(['owner', 'list', accountId])).stdout).toMatch(/invited until 20\d\d-.* viewer/)
  expect(await accept(wrong, 'a password of somebody else')).toBe(404)
  expect(await accept(invited, 'correct horse battery staple')).toBe(200)
  expect((await waybill.json(['owner', 'list', accountId])).items).toMatchObject([{ email, role: 'viewer' }])
  const [lost, kept] = [await reset(), await reset()]
  expect(await accept(lost, 'one that was never to be set')).toBe(404)

  await waybill.json(['owner', 'remove', accountId, '--email', email])

  expect(await accept(kept, 'the way back that must not be')).toBe(404)
  expect((await waybill.json(['owner', 'list', accountId])).items).toEqual([])
})

test('accepts only the newest password link, even if another account requested it', async () => {
  const bob = 'bob@example.com'
  const other = (await waybill.json(['account', 'create', '--name', 'Other shop'])).accountId
  const password = 'correct horse battery staple'
  for (const account of [accountId, other])
    expect(await accept(await tokenOf(['owner', 'invite', account, '--email', bob]), password)).toBe(200)
  const [older, newer] = [
    await tokenOf(['owner', 'reset-password', accountId, '--email', bob]),
    await tokenOf(['owner', 'reset-password', other, '--email', bob]),
  ]

  expect(await accept(older, 'what somebody else would choose')).toBe(404)
  expect(await accept(newer, 'what Bob himself chooses')).toBe(200)
  await waybill.json(['owner', 'remove', accountId, '--email', bob])
})

test('revokes a pending invitation and accepts member as an alias of owner', async () => {
  const link = await tokenOf(['member', 'invite', accountId, '--email', 'carol@example.com'])

  expect(await waybill.json(['member', 'remove', accountId, '--email', 'Carol@example.com'])).toEqual({
    accountId,
    email: 'Carol@example.com',
    removed: true,
  })

  expect(await accept(link, 'correct horse battery staple')).toBe(404)
})

test('explains an invalid role, an invalid address and an unknown user', async () => {
  const badRole = await waybill.run(['owner', 'invite', accountId, '--email', email, '--role', 'admin'])
  const badEmail = await waybill.run(['owner', 'invite', accountId, '--email', 'ada'])
  const unknown = await waybill.run(['owner', 'remove', accountId, '--email', 'bob@example.com'])

  expect(badRole).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--role must be owner or viewer') })
  expect(badEmail).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('must be an email address') })
  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: `No user in ${accountId} has the email address "bob@example.com". List its users: waybill owner list ${accountId}\n`,
  })
})
