import { errorFacts } from '../../contracts/facts/errors.ts'
import type { ConnectStep } from '../../contracts/dashboard/connect.ts'
import type { replaceSecrets as contract, UpdatedWhatsAppAccount } from '../../contracts/dashboard/whatsapp-account.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { InputOf } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import { readActivityTime } from './account-changes.ts'
import { checkInput } from './add.ts'
import { describeAdvice } from './connect/advice.ts'
import { subscribeApp } from './connect/subscribe.ts'
import { readTokenFacts } from './connect/token.ts'
import { type HealthChanges, saveHealth, scheduleCheck, toProblemColumns } from './health/store.ts'
import { toReasonColumns } from './inactive-reason.ts'
import { refuseMissingPermission, toNumberFields, verifyPhoneNumber } from './phone-number.ts'
import { accessTokenPurpose, appSecretPurpose, unreadableToken, openAccessToken } from './secrets.ts'
import {
  changeWhatsAppAccount,
  deleteTemplates,
  findWhatsAppAccount,
  findWhatsAppAccounts,
  lockAccount,
  scheduleSync,
  type WhatsAppAccountChanges,
  type WhatsAppAccountRow,
  type WhatsAppAccountRef,
} from './store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount } from './whatsapp-account.ts'

type WhatsAppAccountUpdate = Omit<InputOf<typeof contract>, 'accountId' | 'whatsAppAccountId'>

type UpdateDeps = Pick<Deps, 'db' | 'secrets' | 'whatsapp' | 'now' | 'log'>

/** Replaces secrets or the WABA, and returns the result as the dashboard and the command line show it. */
export async function replaceSecrets(
  deps: UpdateDeps,
  accountId: string,
  whatsAppAccountId: string,
  input: WhatsAppAccountUpdate,
): Promise<UpdatedWhatsAppAccount> {
  const { row, subscription } = await reconnectWhatsAppAccount(deps, { accountId, whatsAppAccountId }, input)
  return {
    ...toWhatsAppAccount(row),
    ...(subscription && { subscribed: subscription.ok }),
    ...(subscription?.ok === false && { subscriptionProblem: describeAdvice(subscription) }),
  }
}

/**
 * Replaces the access token, the app secret or the WABA; the IDs stay. A new token or WABA is verified as for a new
 * account, and the app is subscribed again. This reactivates an account that WhatsApp rejected, but not one that a user
 * deactivated. An app secret alone is not verified, so that an expired token does not prevent the replacement of a
 * leaked secret.
 */
export async function reconnectWhatsAppAccount(
  deps: UpdateDeps,
  ref: WhatsAppAccountRef,
  input: WhatsAppAccountUpdate,
): Promise<{ row: WhatsAppAccountRow; subscription: ConnectStep | undefined }> {
  const { accountId, whatsAppAccountId } = ref
  if (Object.values(input).every((value) => value === undefined))
    throw new ServiceError('SETTING_REFUSED', 'Nothing to change: pass an access token, an app secret or a WABA ID.')
  checkInput(input)
  const known = requireWhatsAppAccount(
    await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId),
    whatsAppAccountId,
  )
  if (input.accessToken === undefined && input.wabaId === undefined) {
    const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, encrypt(deps, known, input))
    await scheduleCheck(deps.db, ref)
    return { row: requireWhatsAppAccount(row, whatsAppAccountId), subscription: undefined }
  }
  return reverify(deps, known, input)
}

/** Verifies a new token or WABA, and stores what WhatsApp says about them. */
async function reverify(deps: UpdateDeps, known: WhatsAppAccountRow, input: WhatsAppAccountUpdate) {
  const ref = { accountId: known.accountId, whatsAppAccountId: known.id }
  const accessToken = input.accessToken ?? openAccessToken(deps, ref, known.accessTokenEncrypted)
  if (accessToken === undefined)
    throw new ServiceError('SETTING_REFUSED', unreadableToken(known.id), {
      remedy: 'Pass a new access token too.',
    })
  const wabaId = input.wabaId ?? known.wabaId
  const [number, token] = await Promise.all([
    verifyPhoneNumber(deps, { phoneNumberId: known.phoneNumberId, wabaId, accessToken }),
    readTokenFacts(deps, { accessToken }),
  ])
  refuseMissingPermission(token.info)
  const changes = {
    ...toNumberFields(number),
    ...encrypt(deps, known, input),
    ...(wabaId !== known.wabaId && unknownWaba),
    wabaId,
    ...toReasonColumns(null),
    activityReportedAt: await readActivityTime(deps.db),
  }
  const facts = {
    ...(input.accessToken !== undefined && clearedTokenFacts),
    ...token.columns,
    ...toProblemColumns('tokenProblem', null),
  }
  const row = await store(deps, { known, input, changes, facts })
  const subscription = await subscribeApp(deps, ref, { wabaId, accessToken })
  return { row, subscription }
}

/** What is known about the previous WABA says nothing about another one. */
const unknownWaba = { portfolioId: null, marketingOnboardingStatus: null, marketingOffCloudApi: null }

/** Clears the facts about the previous token, which say nothing about a new one. */
const clearedTokenFacts: HealthChanges = {
  appId: null,
  tokenCheckedAt: null,
  tokenExpiresAt: null,
  missingPermissions: [],
  tokenRefreshDueAt: null,
  tokenRefreshedAt: null,
  ...toProblemColumns('tokenRefreshProblem', null),
}

/** Encrypts the given secrets. */
function encrypt(
  { secrets }: Pick<Deps, 'secrets'>,
  { id }: WhatsAppAccountRow,
  { accessToken, appSecret }: WhatsAppAccountUpdate,
): WhatsAppAccountChanges {
  return {
    ...(accessToken !== undefined && { accessTokenEncrypted: secrets.encrypt(accessToken, accessTokenPurpose(id)) }),
    ...(appSecret !== undefined && { appSecretEncrypted: secrets.encrypt(appSecret, appSecretPurpose(id)) }),
  }
}

interface Verified {
  /** The row before the verification. */
  known: WhatsAppAccountRow
  input: WhatsAppAccountUpdate
  changes: WhatsAppAccountChanges
  facts: HealthChanges
}

async function store(
  { db }: Pick<Deps, 'db'>,
  { known, input, changes, facts }: Verified,
): Promise<WhatsAppAccountRow> {
  const { accountId, id } = known
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const current = requireWhatsAppAccount(await findWhatsAppAccount(trx, accountId, id), id)
    refuseIfChanged({ known, current, input })
    const changed = requireWhatsAppAccount(await changeWhatsAppAccount(trx, accountId, id, changes), id)
    await saveHealth(trx, { accountId, whatsAppAccountId: id }, facts)
    await scheduleCheck(trx, { accountId, whatsAppAccountId: id })
    if (changed.wabaId !== current.wabaId) {
      const others = await findWhatsAppAccounts(trx, accountId)
      if (!others.some(({ wabaId }) => wabaId === current.wabaId)) await deleteTemplates(trx, accountId, current.wabaId)
      await scheduleSync(trx, accountId, changed.wabaId)
    }
    return changed
  })
}

/** Throws if the verified values were changed in the meantime: the change would be lost or stay unverified. */
function refuseIfChanged({
  known,
  current,
  input,
}: Pick<Verified, 'known' | 'input'> & { current: WhatsAppAccountRow }) {
  const isSameToken = current.accessTokenEncrypted === known.accessTokenEncrypted
  const isSameWaba = current.wabaId === known.wabaId
  if ((input.accessToken !== undefined || isSameToken) && (input.wabaId !== undefined || isSameWaba)) return
  throw new ServiceError('SETTING_REFUSED', errorFacts.changedMeanwhile(), {
    remedy: 'Check its settings, then try again.',
  })
}
