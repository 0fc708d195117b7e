import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { metaIdPattern, metaSecretPattern } from '../../../contracts/dashboard/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { accountNotFound, requireAccount } from '../account.ts'
import { toColumns, verifyPhoneNumber } from './phone-number.ts'
import { accessTokenPurpose, appSecretPurpose } from './secrets.ts'
import { clearDefault, findByPhoneNumberId, findWhatsAppAccounts, insertWhatsAppAccount, lockAccount } from './store.ts'

export interface NewWhatsAppAccount {
  phoneNumberId: string
  wabaId: string
  accessToken: string
  appSecret?: string | undefined
  /** The first one of an account is its default in any case. */
  makeDefault?: boolean | undefined
  /** Stores it without asking WhatsApp: for operators who know that the number is theirs. */
  unverified?: boolean | undefined
}

/** What WhatsApp refuses is not stored, unless it is added unverified. */
export async function addWhatsAppAccount(
  deps: Pick<Deps, 'db' | 'now' | 'newId' | 'secrets' | 'whatsapp'>,
  accountId: string,
  input: NewWhatsAppAccount,
): Promise<{ whatsAppAccountId: string }> {
  checkInput(input)
  await requireAccount(deps.db, accountId)
  const described = input.unverified === true ? {} : toColumns(await verifyPhoneNumber(deps, input))
  const id = deps.newId('wa')
  const sealed = {
    id,
    account_id: accountId,
    phone_number_id: input.phoneNumberId,
    waba_id: input.wabaId,
    access_token_encrypted: deps.secrets.encrypt(input.accessToken, accessTokenPurpose(id)),
    app_secret_encrypted:
      input.appSecret === undefined ? null : deps.secrets.encrypt(input.appSecret, appSecretPurpose(id)),
    created_at: deps.now(),
    ...described,
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw accountNotFound(accountId)
    await refuseKnownPhoneNumber(trx, input.phoneNumberId)
    const others = await findWhatsAppAccounts(trx, accountId)
    const isDefault = input.makeDefault === true || others.length === 0
    if (isDefault) await clearDefault(trx, accountId)
    await insertWhatsAppAccount(trx, { ...sealed, is_default: isDefault })
  })
  return { whatsAppAccountId: id }
}

async function refuseKnownPhoneNumber(db: Kysely<Database>, phoneNumberId: string): Promise<void> {
  const known = await findByPhoneNumberId(db, phoneNumberId)
  if (known)
    throw new ServiceError('VALIDATION_ERROR', `Phone number id ${phoneNumberId} is in use already.`, {
      field: 'phoneNumberId',
      remedy: `It is WhatsApp account ${known.id} of account ${known.account_id}. To add it anew, with another token: waybill whatsapp remove ${known.id}`,
    })
}

function checkInput(input: NewWhatsAppAccount): void {
  checkMetaId('phone number id', input.phoneNumberId)
  checkMetaId('WABA id', input.wabaId)
  checkSecret('access token', input.accessToken)
  if (input.appSecret !== undefined) checkSecret('app secret', input.appSecret)
}

/** Meta's ids are digits; what is often given in their place is the telephone number with a plus. */
function checkMetaId(name: string, value: string): void {
  if (!metaIdPattern.test(value))
    throw new ServiceError(
      'SETTING_REFUSED',
      `The ${name} must be digits only, as Meta's WhatsApp Manager shows it; it is not the telephone number.`,
    )
}

/** The value itself is never repeated. */
function checkSecret(name: string, value: string): void {
  if (!metaSecretPattern.test(value))
    throw new ServiceError(
      'SETTING_REFUSED',
      `The ${name} is empty, or holds a space or another character that no ${name} has.`,
    )
}
