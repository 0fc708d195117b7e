import { type Kysely, sql } from 'kysely'
import { sendMessage } from '../../contracts/api/message.ts'
import { exampleWhatsAppAccountId } from '../../contracts/fields.ts'
import { createAccount, requireAccount, updateAccount } from '../accounts/account.ts'
import { generateKey } from '../accounts/api-key.ts'
import type { Deps } from '../deps.ts'
import { importRateCards, listRateCards } from '../messages/costs/rate-cards.ts'
import { send } from '../messages/send/send.ts'
import { findMessages } from '../messages/store.ts'
import type { Database } from '../platform/db/schema.ts'
import { syncTemplates } from '../templates/sync.ts'
import { createUserAuth } from '../users/sign-in/better-auth.ts'
import { findUserByEmail, saveRole } from '../users/store.ts'
import { addWhatsAppAccount } from '../whatsapp-accounts/add.ts'
import { activateWhatsAppAccount } from '../whatsapp-accounts/change.ts'
import { findByPhoneNumberId } from '../whatsapp-accounts/store.ts'

/** The simulator's phone number, from which the demo account sends. */
export interface DemoNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
}

export interface Demo {
  accountId: string
  /** Path of a one-time link that signs in the demo user. */
  signInPath: string
  /** Present only if it was just generated, because a key is shown once. */
  apiKey?: string
  keyStart?: string
}

type DemoAccount = Omit<Demo, 'signInPath'>

/** Finds or creates the demo account, ready to send. If the user revoked its key, it stays revoked. */
export async function prepareDemo(deps: Deps, number: DemoNumber, url: string): Promise<Demo> {
  const known = await findByPhoneNumberId(deps.db, number.phoneNumberId)
  const demo = known ? await reuseDemo(deps, known) : await createDemo(deps, number)
  await syncTemplates(deps, demo.accountId)
  return { ...demo, signInPath: await prepareDemoUser(deps, demo.accountId, url) }
}

/** Returns the phone number ID of an active WhatsApp account that is not one of `known`, if there is one. */
export async function findUnknownNumber(db: Kysely<Database>, known: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ isNew: boolean }>`select to_regclass('whatsapp_accounts') is null as "isNew"`.execute(db)
  if (rows[0]?.isNew) return undefined
  const row = await db
    .selectFrom('whatsapp_accounts')
    .select('phone_number_id')
    .where('active', '=', true)
    .where('phone_number_id', 'not in', known)
    .executeTakeFirst()
  return row?.phone_number_id
}

/** Invented, so that costs are shown. Their markets say so wherever a rate is named. */
const sampleRates = [
  'valid_from,currency,market,countries,marketing,utility,authentication',
  '2026-01-01,EUR,Sample rates,*,0.05,0.02,0.02',
].join('\n')

async function createDemo(deps: Deps, number: DemoNumber): Promise<DemoAccount> {
  const { accountId } = await createAccount(deps, { name: 'Demo' })
  const { apiKey, start } = await generateKey(deps, accountId)
  await updateAccount(deps, accountId, { templateChangesEnabled: true, mcpEnabled: true })
  await addWhatsAppAccount({ ...deps, newId: () => exampleWhatsAppAccountId }, accountId, number)
  if ((await listRateCards(deps)).length === 0) await importRateCards(deps, sampleRates)
  return { accountId, apiKey, keyStart: start }
}

/**
 * Meta rejects the simulator's token, so a command that called Meta with it has deactivated the account; reactivate it.
 */
async function reuseDemo(deps: Deps, { id, accountId }: { id: string; accountId: string }): Promise<DemoAccount> {
  await activateWhatsAppAccount(deps, { accountId, whatsAppAccountId: id })
  const { keyStart } = await requireAccount(deps.db, accountId)
  return { accountId, keyStart }
}

/** A reserved domain that receives no email (RFC 2606). */
const email = 'demo@example.com'

/**
 * Finds or creates the owner of the demo account, who has no password. Returns the path of a one-time sign-in link.
 */
async function prepareDemoUser(deps: Deps, accountId: string, publicUrl: string): Promise<string> {
  const userAuth = createUserAuth(deps, { publicUrl, oidc: undefined, signInLinks: true })
  const { id: userId } =
    (await findUserByEmail(deps.db, email)) ??
    toId(await userAuth.createUser(deps.db, { email, name: 'Demo owner', provesEmail: true }))
  await saveRole(deps.db, { accountId, userId, role: 'owner' })
  return userAuth.createSignInLink(email)
}

function toId({ userId }: { userId: string }): { id: string } {
  return { id: userId }
}

/** Sends a first message, so that a new user sees what a message looks like. */
export async function sendFirstMessage(deps: Deps, accountId: string): Promise<void> {
  const { rows } = await findMessages(deps.db, accountId, {}, 1)
  if (rows.length === 0) await send(deps, { accountId }, firstMessage)
}

/** Another order and recipient than in the examples, so that a reader recognizes the message that they send. */
const firstMessage: typeof sendMessage.example.input = {
  ...sendMessage.example.input,
  to: '34600111333',
  variables: { '1': 'Grace', '2': 'WB-1041' },
  externalId: 'order-1041',
}
