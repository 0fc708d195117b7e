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
  /** The first WhatsApp account is the default in any case. */
  makeDefault?: boolean | undefined
  /** Skips the verification with WhatsApp, for operators who know that the number is theirs. */
  unverified?: boolean | undefined
}

/** Adds a WhatsApp account after WhatsApp has verified it, unless it is added unverified. */
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
    throw new ServiceError('VALIDATION_ERROR', `Phone number ID ${phoneNumberId} is already in use.`, {
      field: 'phoneNumberId',
      remedy: `It belongs to WhatsApp account ${known.id} of account ${known.account_id}. To add it again, first remove it: waybill whatsapp remove ${known.id}`,
    })
}

function checkInput(input: NewWhatsAppAccount): void {
  checkMetaId('phone number ID', input.phoneNumberId)
  checkMetaId('WABA ID', input.wabaId)
  checkSecret('access token', input.accessToken)
  if (input.appSecret !== undefined) checkSecret('app secret', input.appSecret)
}

/** Meta's IDs consist of digits. A phone number with a plus sign is a common mistake. */
function checkMetaId(name: string, value: string): void {
  if (!metaIdPattern.test(value))
    throw new ServiceError(
      'SETTING_REFUSED',
      `The ${name} must be digits only, as shown in Meta's WhatsApp Manager. It is not the phone number.`,
    )
}

/** The value itself is never repeated. */
function checkSecret(name: string, value: string): void {
  if (!metaSecretPattern.test(value))
    throw new ServiceError('SETTING_REFUSED', `The ${name} is empty or contains a space or another invalid character.`)
}
