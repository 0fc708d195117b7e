import { setImmediate } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { batched } from '../platform/db/batched.ts'
import { unmeasuredList } from '../platform/db/columns.ts'
import { statement } from '../platform/db/statement.ts'
import { scanIds } from '../whatsapp/callbacks/account-ids.ts'
import { isSignedWith } from '../whatsapp/callbacks/signature.ts'
import { appSecretPurpose, openSecret } from './secrets.ts'

/** A WhatsApp account that a callback refers to. */
export interface CallbackSender {
  accountId: string
  whatsAppAccountId: string
  phoneNumberId: string
  wabaId: string
  portfolioId: string | undefined
  /** The number as WhatsApp shows it, digits only. */
  displayDigits: string | undefined
  /** The app secret of the number, or the service's default. */
  appSecret: string | undefined
}

export interface AppSecrets {
  /** Secret of the app that signed the callback. */
  signer: string
  /** Secret for numbers without one of their own. */
  default: string | undefined
}

/**
 * Returns the WhatsApp accounts that a callback refers to and that are set up with the app that signed it. Reads all accounts,
 * because a callback contains phone numbers, WABAs and portfolios, but no accounts. Accounts whose app secret cannot be
 * decrypted are skipped, since nobody can sign for them.
 */
export async function findSendersOfApp(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  ids: SenderIds,
  secrets: AppSecrets,
): Promise<CallbackSender[]> {
  if (ids.phoneNumberIds.length + ids.ownerIds.length === 0) return []
  const rows = await findRowsByIds(deps.db, ids)
  return rows
    .flatMap((row) => openSender(deps, row, secrets.default))
    .filter(({ appSecret }) => appSecret === secrets.signer)
}

/** Returns whether the WhatsApp account of a callback URL exists, and its app secret if it has one. */
async function findSecretOfUrl(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  whatsAppAccountId: string,
  defaultAppSecret: string | undefined,
): Promise<{ known: boolean; signer?: CallbackSigner }> {
  const [row] = await findById(deps.db, { id: whatsAppAccountId })
  if (!row) return { known: false }
  const appSecret = openSender(deps, row, defaultAppSecret)[0]?.appSecret
  if (appSecret === undefined) return { known: true }
  const accountId = row.appSecretEncrypted === null ? undefined : row.accountId
  return { known: true, signer: { appSecret, accountId } }
}

/** Returns the distinct app secrets, with the account of each, for these phone numbers and WABAs, in the order of the IDs. */
async function findSecretsOfIds(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  ids: string[],
  maxSecrets: number,
): Promise<CallbackSigner[]> {
  if (ids.length === 0) return []
  const signers = new Map<string, CallbackSigner>()
  for (const row of await findWithSecret(deps.db, { ids, limit: maxRows })) {
    const appSecret = openSender(deps, row, undefined)[0]?.appSecret
    if (appSecret !== undefined && !signers.has(appSecret))
      signers.set(appSecret, { appSecret, accountId: row.accountId })
    if (signers.size === maxSecrets) break
  }
  return [...signers.values()]
}

function openSender(
  deps: Pick<Deps, 'secrets' | 'log'>,
  row: SenderRow,
  defaultAppSecret: string | undefined,
): CallbackSender[] {
  const { accountId, whatsAppAccountId, phoneNumberId, wabaId, appSecretEncrypted: ciphertext } = row
  const ref = { accountId, whatsAppAccountId }
  const sender = {
    ...ref,
    phoneNumberId,
    wabaId,
    portfolioId: row.portfolioId ?? undefined,
    displayDigits: row.displayPhoneNumber?.replaceAll(/\D/g, ''),
  }
  if (ciphertext === null) return [{ ...sender, appSecret: defaultAppSecret }]
  const appSecret = openSecret(deps, ref, { ciphertext, purpose: appSecretPurpose(whatsAppAccountId) })
  return appSecret === undefined ? [] : [{ ...sender, appSecret }]
}

export interface SenderIds {
  phoneNumberIds: string[]
  /** IDs of WhatsApp Business Accounts and of business portfolios. */
  ownerIds: string[]
}

interface SenderRow {
  whatsAppAccountId: string
  accountId: string
  phoneNumberId: string
  wabaId: string
  portfolioId: string | null
  displayPhoneNumber: string | null
  appSecretEncrypted: string | null
}

const columns = `id as "whatsAppAccountId", account_id as "accountId", phone_number_id as "phoneNumberId", waba_id as "wabaId",
  portfolio_id as "portfolioId", display_phone_number as "displayPhoneNumber", app_secret_encrypted as "appSecretEncrypted"`

const findByIds = statement<SenderIds, SenderRow>(
  'find_callback_senders',
  ($) => `select ${columns} from whatsapp_accounts
  where phone_number_id = any (${unmeasuredList($.phoneNumberIds)}::text[])
    or waba_id = any (${unmeasuredList($.ownerIds)}::text[]) or portfolio_id = any (${unmeasuredList($.ownerIds)}::text[])`,
)

/** Reads all accounts: the WhatsApp account determines the account. */
const findById = statement<{ id: string }, SenderRow>(
  'find_callback_address',
  ($) => `select ${columns} from whatsapp_accounts where id = ${$.id}`,
)

/** Limits decryption for unauthenticated senders. The numbers of a WABA usually share an app, and so a secret. */
const maxRows = 50

/** Reads all accounts, like `findByIds`. */
const findWithSecret = statement<{ ids: string[]; limit: number }, SenderRow>(
  'find_callback_secrets',
  ($) => `select ${columns} from whatsapp_accounts
  where (phone_number_id = any (${$.ids}::text[]) or waba_id = any (${$.ids}::text[])
    or portfolio_id = any (${$.ids}::text[])) and app_secret_encrypted is not null
  order by least(
    array_position(${$.ids}::text[], phone_number_id), array_position(${$.ids}::text[], waba_id),
    array_position(${$.ids}::text[], portfolio_id)
  ), id
  limit ${$.limit}`,
)

/** Concurrent callbacks usually contain the same numbers, so their rows are read together. */
const findRowsByIds = batched<SenderIds, SenderRow[]>({
  name: 'find_callback_senders',
  one: findByIds,
  many: async (db, callbacks) => {
    const phoneNumberIds = new Set(callbacks.flatMap((ids) => ids.phoneNumberIds))
    const ownerIds = new Set(callbacks.flatMap((ids) => ids.ownerIds))
    const rows = await findByIds(db, { phoneNumberIds: [...phoneNumberIds], ownerIds: [...ownerIds] })
    return callbacks.map((ids) =>
      rows.filter(
        ({ phoneNumberId, wabaId, portfolioId }) =>
          ids.phoneNumberIds.includes(phoneNumberId) ||
          ids.ownerIds.includes(wabaId) ||
          (portfolioId !== null && ids.ownerIds.includes(portfolioId)),
      ),
    )
  },
})

export interface SignedCallback {
  /** The raw bytes, because the signature covers them. */
  body: Buffer
  /** Value of `X-Hub-Signature-256`. */
  signature: string
  /** From the path of the request; undefined at the shared callback URL. */
  whatsAppAccountId: string | undefined
}

/** The app that signed a callback. */
export interface CallbackSigner {
  appSecret: string
  /** The account that configured the secret; undefined for the service's default secret, which is not any account's. */
  accountId: string | undefined
}

const maxSecrets = 5
/** Hashing takes a millisecond per megabyte, so a large body is checked against fewer secrets, but at least one. */
const maxHashedBytes = 3 * 1024 * 1024

/**
 * Returns the app that signed a callback; undefined if none of the known secrets did. The body is not parsed
 * first, because the sender is unauthenticated. The secret is that of the URL or the service's default; otherwise the
 * IDs in the body determine a few candidates. The URL of a removed WhatsApp account is treated like the shared one,
 * because its app can report on other numbers too.
 */
export async function findCallbackSigner(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { body, signature, whatsAppAccountId }: SignedCallback,
  defaultAppSecret: string | undefined,
): Promise<CallbackSigner | undefined> {
  const isSigned = (secret: string) => isSignedWith(body, signature, secret)
  if (whatsAppAccountId !== undefined) {
    const { known, signer } = await findSecretOfUrl(deps, whatsAppAccountId, defaultAppSecret)
    if (known) return signer && isSigned(signer.appSecret) ? signer : undefined
  }
  if (defaultAppSecret !== undefined && isSigned(defaultAppSecret))
    return { appSecret: defaultAppSecret, accountId: undefined }
  const maxAttempts = Math.max(1, Math.min(maxSecrets, Math.floor(maxHashedBytes / Math.max(1, body.length))))
  const candidates = await findSecretsOfIds(deps, scanIds(body), maxAttempts)
  for (const candidate of candidates) {
    if (candidate.appSecret !== defaultAppSecret && isSigned(candidate.appSecret)) return candidate
    // Yields to other requests, because each check of a large body takes milliseconds.
    await setImmediate()
  }
  return undefined
}
