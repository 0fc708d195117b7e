import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { holdsNumber } from '../../src/whatsapp-accounts/displace.ts'
import { claimDueSyncs, findByPhoneNumberId, findWhatsAppAccounts } from '../../src/whatsapp-accounts/store.ts'
import { replaceSecrets } from '../../src/whatsapp-accounts/update.ts'
import { readAccountHealth } from '../../src/whatsapp-accounts/health/read.ts'
import { createDisplacementRecorder } from '../../src/http/displacement.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { announceChanges } from '../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import type { WhatsApp } from '../../src/whatsapp/whatsapp.ts'
import { forFile } from '../support/lifetime.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { listRecordedEvents } from '../support/events.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'

const server = await forFile(startTestServer())
afterEach(() => server.simulator.intercept(undefined))

/** Makes WhatsApp respond to reads of a number with this error. */
function failReads(
  { phoneNumberId }: TestAccount,
  status: number,
  error: object,
  ofToken?: (token: string) => boolean,
) {
  server.simulator.intercept(({ method, path, headers }) =>
    method === 'GET' &&
    path.includes(phoneNumberId) &&
    (ofToken?.(String(headers['authorization']).replace('Bearer ', '')) ?? true)
      ? { kind: 'json', status, body: { error: { message: 'said WhatsApp', type: 'OAuthException', ...error } } }
      : undefined,
  )
}

async function requireHolder({ phoneNumberId }: TestAccount) {
  const row = await findByPhoneNumberId(server.deps.db, phoneNumberId)
  if (!row) throw new Error('nobody has the number')
  return row
}

/** The owner of the number connects it with a token of their own. */
async function takeOver(
  { phoneNumberId, wabaId }: TestAccount,
  into: TestAccount,
  {
    holderTokenFails = true,
    whatsapp = server.deps.whatsapp,
  }: { holderTokenFails?: boolean; whatsapp?: WhatsApp } = {},
) {
  const accessToken = `EAAowner${phoneNumberId}`
  if (holderTokenFails) server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken })
  else server.simulator.addToken(accessToken, { wabaIds: [wabaId] })
  const deps = { ...server.deps, whatsapp }
  return addWhatsAppAccount(
    deps,
    into.accountId,
    { phoneNumberId, wabaId, accessToken },
    createDisplacementRecorder(deps),
  )
}

test.each([
  { code: 0, status: 401 },
  { code: 3, status: 500 },
  { code: 10, status: 403 },
  { code: 33, status: 400 },
  { code: 104, status: 400 },
  { code: 190, status: 401 },
  { code: 200, status: 403 },
  { code: 275, status: 403 },
  { code: 299, status: 403 },
  { code: 131005, status: 403 },
  { code: 100, error_subcode: 33, status: 400 },
])(
  'moves the number to the new account if WhatsApp returns $code, subcode $error_subcode',
  async ({ status, ...error }) => {
    const holder = await server.account()
    failReads(holder, status, error)

    expect(await holdsNumber(server.deps, await requireHolder(holder))).toBe(false)
  },
)

test.each([
  { code: 368, status: 403 },
  { code: 131031, status: 403 },
  { code: 131042, status: 400 },
  { code: 100, status: 400 },
  { code: 100, error_subcode: 2018001, status: 400 },
  { code: 4, status: 400 },
  { code: 80007, status: 400 },
  { code: 300, status: 403 },
  { code: 999999, status: 401 },
  { code: 1, status: 500 },
])(
  'keeps the number of the account if WhatsApp returns $code, subcode $error_subcode',
  async ({ status, ...error }) => {
    const holder = await server.account()
    failReads(holder, status, error)

    expect(await holdsNumber(server.deps, await requireHolder(holder))).toBe(true)
  },
)

test('keeps the number of an account whose business WhatsApp has locked', async () => {
  const [holder, claimant] = [await server.account(), await server.account()]
  const row = await requireHolder(holder)
  failReads(holder, 403, { code: 131031 }, (token) => !token.startsWith('EAAowner'))

  await expect(takeOver(holder, claimant, { holderTokenFails: false })).rejects.toThrow('already in use')

  expect(await requireHolder(holder)).toEqual(row)
})

test('makes the oldest other account that can send the default after a displacement', async () => {
  const [holder, claimant] = [await server.account(), await server.account()]
  const second = await holder.addWhatsAppAccount()
  await holder.addWhatsAppAccount()

  await takeOver(holder, claimant)

  const rows = await findWhatsAppAccounts(server.deps.db, holder.accountId)
  expect(rows.filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual([second])
  const { items } = await listAudit(server.deps, { accountId: holder.accountId, limit: 10 })
  expect(items).toMatchObject([
    { what: expect.stringMatching(`^removed ${holder.whatsAppAccountId}: .*; ${second} is the default now$`) },
  ])
})

test('reports in the health that nothing can be sent if a displacement leaves no default', async () => {
  const [holder, claimant] = [await server.account(), await server.account()]

  await takeOver(holder, claimant)

  expect(await findWhatsAppAccounts(server.deps.db, holder.accountId)).toEqual([])
  expect(await readAccountHealth(server.deps, holder.accountId)).toMatchObject({ canSend: false })
})

test('reports the displacement once to the webhooks of the displaced account, without naming the other', async () => {
  const [holder, claimant] = [await server.account(), await server.account()]
  await addEndpoint(server.deps, holder.accountId, {
    url: 'http://127.0.0.1:9/',
    events: ['whatsapp_account.inactive'],
  })

  await takeOver(holder, claimant)
  await announceChanges(server.deps)

  const events = await listRecordedEvents(server.deps, holder)
  expect(events).toMatchObject([
    {
      type: 'whatsapp_account.inactive',
      data: {
        accountId: holder.whatsAppAccountId,
        phoneNumberId: holder.phoneNumberId,
        by: 'whatsapp',
        reason: 'another account verified ownership of the phone number',
      },
    },
  ])
  expect(JSON.stringify(events)).not.toContain(claimant.accountId)
})

test('keeps the number of an account whose token is replaced during the check', async () => {
  const [holder, claimant] = [await server.account(), await server.account()]
  const { phoneNumberId, wabaId } = holder
  const row = await requireHolder(holder)
  const replaceMeanwhile: WhatsApp['getPhoneNumber'] = async (input) => {
    const outcome = await server.deps.whatsapp.getPhoneNumber(input)
    if (outcome.ok) return outcome
    // The stored token was just rejected; its owner replaces it before the rejection takes effect.
    const accessToken = 'EAAreplaced'
    server.simulator.addToken(accessToken, { wabaIds: [wabaId] })
    await replaceSecrets(server.deps, holder.accountId, holder.whatsAppAccountId, { accessToken })
    return outcome
  }

  await expect(
    takeOver(holder, claimant, { whatsapp: { ...server.deps.whatsapp, getPhoneNumber: replaceMeanwhile } }),
  ).rejects.toThrow('already in use')

  const kept = await findByPhoneNumberId(server.deps.db, phoneNumberId)
  expect(kept?.id).toBe(row.id)
  expect(kept?.accessTokenEncrypted).not.toBe(row.accessTokenEncrypted)
})

test('does not deadlock when two accounts displace each other concurrently', async () => {
  const [first, second] = [await server.account(), await server.account()]

  const results = await Promise.allSettled([takeOver(first, second), takeOver(second, first)])

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect((await requireHolder(first)).accountId).toBe(second.accountId)
  expect((await requireHolder(second)).accountId).toBe(first.accountId)
})

test('holds no number of a WhatsApp Business Account while it waits for another one to claim its sync', async () => {
  const account = await server.account()
  await account.addWhatsAppAccount({ wabaId: account.wabaId, phoneNumberId: `6${account.phoneNumberId}` })
  const { db } = server.deps
  const [first = '', last = ''] = (await findWhatsAppAccounts(db, account.accountId)).map(({ id }) => id).toSorted()
  await db
    .updateTable('whatsapp_accounts')
    .set({ next_sync_at: new Date('2100-01-01') })
    .execute()
  const due = sql<Date>`now()`
  await db.updateTable('whatsapp_accounts').set({ next_sync_at: due }).where('id', 'in', [first, last]).execute()

  const [claiming] = await db.transaction().execute(async (trx) => {
    await trx.selectFrom('whatsapp_accounts').select('id').where('id', '=', first).forUpdate().execute()
    const claim = claimDueSyncs(db, { limit: 20 })
    await expect.poll(() => lockWaits(db, '%next_sync_at%')).not.toEqual([])
    // Another node that began with this one would otherwise wait for it in turn.
    await trx.selectFrom('whatsapp_accounts').select('id').where('id', '=', last).forUpdate().noWait().execute()
    return [claim]
  })

  expect(await claiming).toEqual([{ accountId: account.accountId, wabaId: account.wabaId }])
})
