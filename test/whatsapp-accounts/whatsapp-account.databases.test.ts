import { beforeEach, expect, test } from 'vitest'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { createAccount } from '../../src/accounts/account.ts'
import { addWhatsAppAccount, type NewWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import {
  activateWhatsAppAccount,
  deactivateRefused,
  deactivateWhatsAppAccount,
  removeWhatsAppAccount,
  setDefaultWhatsAppAccount,
} from '../../src/whatsapp-accounts/change.ts'
import { accessTokenPurpose, appSecretPurpose } from '../../src/whatsapp-accounts/secrets.ts'
import { findWhatsAppAccount } from '../../src/whatsapp-accounts/store.ts'
import { replaceSecrets } from '../../src/whatsapp-accounts/update.ts'
import { listWhatsAppAccounts, requireWhatsAppAccount } from '../../src/whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../../src/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestDeps, nextPhoneNumberId, tokenRefused, unreachable } from '../support/deps.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)
let accountId: string
beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'WhatsApp' })).accountId
})

async function add(more: Partial<NewWhatsAppAccount> = {}): Promise<string> {
  const input = { phoneNumberId: nextPhoneNumberId(), wabaId: '200001', accessToken: 'EAAsecret', ...more }
  return (await addWhatsAppAccount(deps, accountId, input)).whatsAppAccountId
}

const stored = async (id: string) => requireWhatsAppAccount(await findWhatsAppAccount(deps.db, accountId, id), id)

async function defaults(): Promise<string[]> {
  const list = await listWhatsAppAccounts(deps, accountId)
  return list.filter((item) => item.isDefault).map((item) => item.whatsAppAccountId)
}

const expired = { code: 190, title: 'Access token has expired' }

test('encrypts the token and app secret, binds them to their row and does not list them', async () => {
  const id = await add({ accessToken: 'EAAtoken', appSecret: 'app-secret' })

  const row = await stored(id)
  expect(JSON.stringify(row)).not.toMatch(/EAAtoken|app-secret/)
  expect(deps.secrets.decrypt(row.accessTokenEncrypted, accessTokenPurpose(id))).toBe('EAAtoken')
  expect(deps.secrets.decrypt(row.appSecretEncrypted ?? '', appSecretPurpose(id))).toBe('app-secret')
  expect(() => deps.secrets.decrypt(row.accessTokenEncrypted, accessTokenPurpose('wa_other'))).toThrow('authenticate')
  expect(await listWhatsAppAccounts(deps, accountId)).toEqual([
    {
      whatsAppAccountId: id,
      phoneNumberId: row.phoneNumberId,
      wabaId: '200001',
      isDefault: true,
      active: true,
      hasAppSecret: true,
      marketingSetting: 'automatic',
      messagingAccountSetting: 'omit',
      createdAt: expect.any(String),
    },
  ])
})

test('makes the first WhatsApp account the default, or a later one on request', async () => {
  const first = await add()
  await add()
  expect(await defaults()).toEqual([first])

  const third = await add({ makeDefault: true })

  expect(await defaults()).toEqual([third])
})

test('keeps one default when WhatsApp accounts are added concurrently', async () => {
  await Promise.all([add({ makeDefault: true }), add(), add({ makeDefault: true }), add()])

  expect(await defaults()).toHaveLength(1)
})

test('rejects a phone number that another account uses', async () => {
  const phoneNumberId = nextPhoneNumberId()
  const id = await add({ phoneNumberId })
  const other = await createAccount(deps, { name: 'Other' })

  const again = addWhatsAppAccount(deps, other.accountId, { phoneNumberId, wabaId: '200001', accessToken: 'EAA' })

  await expect(again).rejects.toMatchObject({
    message: expect.not.stringContaining(accountId),
    remedy: expect.stringContaining(`belongs to WhatsApp account ${id} of account ${accountId}`),
  })
})

test('does not add an account that WhatsApp rejects or cannot check, unless it is added unverified', async () => {
  const input = { phoneNumberId: nextPhoneNumberId(), wabaId: '200001', accessToken: 'EAA' }
  const whatsAppThat = (response: typeof unreachable | typeof tokenRefused): Deps => ({
    ...deps,
    whatsapp: { ...deps.whatsapp, getPhoneNumber: () => Promise.resolve(response) },
  })

  await expect(addWhatsAppAccount(whatsAppThat(tokenRefused), accountId, input)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'WhatsApp rejects this access token (code 190: Access token has expired).',
    fields: { accessToken: errorFactsWithValues.tokenRejected({ words: 'code 190: Access token has expired' }) },
    // A token that WhatsApp rejects cannot send either.
    remedy: expect.not.stringContaining('--unverified'),
  })
  await expect(addWhatsAppAccount(whatsAppThat(unreachable), accountId, input)).rejects.toMatchObject({
    code: 'WHATSAPP_UNAVAILABLE',
    message: expect.stringContaining('WhatsApp is unavailable. Nothing was stored.'),
  })
  expect(await listWhatsAppAccounts(deps, accountId)).toEqual([])

  await addWhatsAppAccount(whatsAppThat(unreachable), accountId, { ...input, unverified: true })
  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([{ phoneNumberId: input.phoneNumberId }])
})

test.each([
  { phoneNumberId: '+34600111222', says: 'phone number ID' },
  { wabaId: 'my-waba', says: 'WABA ID' },
  { wabaId: '1/../2', says: 'WABA ID' },
  { accessToken: '', says: 'access token' },
  { accessToken: 'EAA secret', says: 'access token' },
  { appSecret: 'se\ncret', says: 'app secret' },
])('validates the $says without repeating the secret: %o', async ({ says, ...input }) => {
  const error = await add(input).catch(String)

  expect(error).toContain(says)
  expect(error).not.toContain('EAA secret')
  expect(await listWhatsAppAccounts(deps, accountId)).toEqual([])
})

test('shows the reason for a deactivation until the account is activated again', async () => {
  const id = await add()

  await deactivateRefused(deps, await stored(id), expired)
  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([
    { active: false, reason: 'WhatsApp rejected it (190): Access token has expired' },
  ])

  expect(await activateWhatsAppAccount(deps, { accountId, whatsAppAccountId: id })).not.toHaveProperty('reason')
  expect(await deactivateWhatsAppAccount(deps, { accountId, whatsAppAccountId: id })).toMatchObject({
    active: false,
    isDefault: true,
  })
})

test('keeps an account active whose token was replaced during the check', async () => {
  const id = await add()
  const loaded = await stored(id)
  await replaceSecrets(deps, accountId, id, { accessToken: 'EAAnew' })

  await deactivateRefused(deps, loaded, expired)

  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([{ active: true }])
})

test('keeps the first reason of a deactivation, which a callback may end', async () => {
  const id = await add()
  const loaded = await stored(id)

  await deactivateRefused(deps, loaded, expired)
  await deactivateRefused(deps, loaded, { code: 200, title: 'Permissions error' })

  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([
    { reason: 'WhatsApp rejected it (190): Access token has expired' },
  ])
})

test('does not deactivate WhatsApp accounts of another account', async () => {
  const id = await add()

  await deactivateRefused(deps, { ...(await stored(id)), accountId: 'acc_other' }, expired)
  await expect(deactivateWhatsAppAccount(deps, { accountId: 'acc_other', whatsAppAccountId: id })).rejects.toThrow(
    'was not found',
  )

  expect(await listWhatsAppAccounts(deps, accountId)).toMatchObject([{ active: true }])
})

test('changes the default and ignores an unknown WhatsApp account', async () => {
  const first = await add()
  const second = await add()

  await expect(setDefaultWhatsAppAccount(deps, { accountId, whatsAppAccountId: 'wa_none' })).rejects.toThrow(
    '"wa_none"',
  )
  expect(await defaults()).toEqual([first])

  await setDefaultWhatsAppAccount(deps, { accountId, whatsAppAccountId: second })
  expect(await defaults()).toEqual([second])
})

test('does not remove the default while other WhatsApp accounts exist', async () => {
  const first = await add()
  const second = await add()

  await expect(removeWhatsAppAccount(deps, { accountId, whatsAppAccountId: first })).rejects.toMatchObject({
    code: 'SETTING_REFUSED',
    message: expect.not.stringContaining('waybill '),
    remedy: expect.stringContaining(`waybill whatsapp set-default ${second}`),
  })

  await setDefaultWhatsAppAccount(deps, { accountId, whatsAppAccountId: second })
  await removeWhatsAppAccount(deps, { accountId, whatsAppAccountId: first })
  await removeWhatsAppAccount(deps, { accountId, whatsAppAccountId: second })
  expect(await listWhatsAppAccounts(deps, accountId)).toEqual([])
})
