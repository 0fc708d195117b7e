import type { Kysely } from 'kysely'
import type { Fact } from '../../contracts/facts/fact.ts'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import type { ConnectStep } from '../../contracts/dashboard/connect.ts'
import { ServiceError } from '../../contracts/errors.ts'
import {
  type addWhatsAppAccount as contract,
  metaIdPattern,
  metaSecretPattern,
} from '../../contracts/dashboard/whatsapp-account.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { accountNotFound, requireAccount } from '../accounts/account.ts'
import { describeAdvice } from './connect/advice.ts'
import { subscribeApp } from './connect/subscribe.ts'
import { readTokenFacts } from './connect/token.ts'
import { displace, holdsNumber, type RecordDisplacement } from './displace.ts'
import { insertHealth } from './health/store.ts'
import { refuseMissingPermission, toNumberFields, verifyPhoneNumber } from './phone-number.ts'
import { accessTokenPurpose, appSecretPurpose } from './secrets.ts'
import {
  clearDefault,
  findByPhoneNumberId,
  findWhatsAppAccounts,
  insertWhatsAppAccount,
  lockAccount,
  type WhatsAppAccountRow,
} from './store.ts'

export interface NewWhatsAppAccount {
  phoneNumberId: string
  wabaId: string
  accessToken: string
  appSecret?: string | undefined
  /** The first WhatsApp account is the default in any case. */
  makeDefault?: boolean | undefined
  /** Skips the verification with WhatsApp, for operators who know that the number is theirs. */
  unverified?: boolean | undefined
}

type AddDeps = Pick<Deps, 'db' | 'now' | 'newId' | 'secrets' | 'whatsapp' | 'log' | 'notifications'>

/** Connects a WhatsApp account and returns the result as the API and the command line show it. */
export async function addWhatsAppAccount(
  deps: AddDeps,
  accountId: string,
  input: NewWhatsAppAccount,
  recordDisplacement?: RecordDisplacement,
): Promise<OutputOf<typeof contract>> {
  const { whatsAppAccountId, subscription } = await connectWhatsAppAccount(deps, accountId, input, recordDisplacement)
  if (subscription.ok) return { whatsAppAccountId, subscribed: true }
  return { whatsAppAccountId, subscribed: false, subscriptionProblem: describeAdvice(subscription) }
}

/**
 * Adds a WhatsApp account after WhatsApp has verified it, unless it is added unverified, and subscribes the app to its
 * callbacks. An account that proves ownership of a number displaces one that no longer can.
 */
export async function connectWhatsAppAccount(
  deps: AddDeps,
  accountId: string,
  input: NewWhatsAppAccount,
  recordDisplacement?: RecordDisplacement,
): Promise<{ whatsAppAccountId: string; subscription: ConnectStep }> {
  checkInput(input)
  await requireAccount(deps.db, accountId)
  const isVerified = input.unverified !== true
  const { numberFields, tokenFields } = isVerified ? await verify(deps, input) : { numberFields: {}, tokenFields: {} }
  const holder = await findByPhoneNumberId(deps.db, input.phoneNumberId)
  if (holder)
    await refuseHeldNumber(deps, accountId, holder, { canDisplace: isVerified && recordDisplacement !== undefined })
  const id = deps.newId('wa')
  const row = {
    id,
    accountId,
    phoneNumberId: input.phoneNumberId,
    wabaId: input.wabaId,
    accessTokenEncrypted: deps.secrets.encrypt(input.accessToken, accessTokenPurpose(id)),
    appSecretEncrypted:
      input.appSecret === undefined ? null : deps.secrets.encrypt(input.appSecret, appSecretPurpose(id)),
    createdAt: deps.now(),
    ...numberFields,
  }
  const displaced = await deps.db.transaction().execute(async (trx) => {
    await lockAccounts(trx, accountId, holder)
    const lost = holder && (await displace(trx, holder))
    const others = await findWhatsAppAccounts(trx, accountId)
    const isDefault = input.makeDefault === true || others.length === 0
    if (isDefault) await clearDefault(trx, accountId)
    if (!(await insertWhatsAppAccount(trx, { ...row, isDefault })))
      throw numberInUse(accountId, input.phoneNumberId, await findByPhoneNumberId(trx, input.phoneNumberId))
    await insertHealth(trx, { accountId, whatsAppAccountId: id }, tokenFields)
    if (lost) await recordDisplacement?.(trx, lost)
    return lost
  })
  if (displaced) deps.notifications.notify('deliveries')
  const subscription = await subscribeApp(deps, { accountId, whatsAppAccountId: id }, input)
  return { whatsAppAccountId: id, subscription }
}

async function verify(deps: AddDeps, input: NewWhatsAppAccount) {
  const [number, token] = await Promise.all([verifyPhoneNumber(deps, input), readTokenFacts(deps, input)])
  refuseMissingPermission(token.info)
  return { numberFields: toNumberFields(number), tokenFields: token.columns }
}

/** Locks in the order of the IDs, so that two accounts that displace each other do not deadlock. */
async function lockAccounts(
  trx: Kysely<Database>,
  accountId: string,
  holder: WhatsAppAccountRow | undefined,
): Promise<void> {
  const ids = holder ? [accountId, holder.accountId] : [accountId]
  for (const id of ids.toSorted())
    if (!(await lockAccount(trx, id)) && id === accountId) throw accountNotFound(accountId)
}

/** Throws unless the number belongs to another account whose stored token fails right now. */
async function refuseHeldNumber(
  deps: AddDeps,
  accountId: string,
  holder: WhatsAppAccountRow,
  { canDisplace }: { canDisplace: boolean },
): Promise<void> {
  const isOwn = holder.accountId === accountId
  if (isOwn || !canDisplace || (await holdsNumber(deps, holder)))
    throw numberInUse(accountId, holder.phoneNumberId, holder)
}

function numberInUse(accountId: string, phoneNumberId: string, holder: WhatsAppAccountRow | undefined): ServiceError {
  const id = holder?.id ?? 'WA'
  return new ServiceError('VALIDATION_ERROR', errorFactsWithValues.numberInUse({ phoneNumberId }), {
    field: 'phoneNumberId',
    remedy:
      holder?.accountId === accountId
        ? `It belongs to WhatsApp account ${id} of this account. To replace its token, run: waybill whatsapp update ${id} --access-token -`
        : `It belongs to WhatsApp account ${id} of account ${holder?.accountId ?? 'ACC'}. To add it again, first remove it: waybill whatsapp remove ${id}`,
  })
}

const names = errorFactsWithValues.metaName

/** Validates the given fields. */
export function checkInput({ phoneNumberId, wabaId, accessToken, appSecret }: Partial<NewWhatsAppAccount>): void {
  if (phoneNumberId !== undefined) checkMetaId(names.phoneNumberId(), phoneNumberId)
  if (wabaId !== undefined) checkMetaId(names.wabaId(), wabaId)
  if (accessToken !== undefined) checkSecret(names.accessToken(), accessToken)
  if (appSecret !== undefined) checkSecret(names.appSecret(), appSecret)
}

/** Meta's IDs consist of digits. A phone number with a plus sign is a common mistake. */
function checkMetaId(name: Fact, value: string): void {
  if (!metaIdPattern.test(value)) throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.metaId({ name }))
}

/** The error never contains the value. */
function checkSecret(name: Fact, value: string): void {
  if (!metaSecretPattern.test(value))
    throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.metaSecret({ name }))
}
