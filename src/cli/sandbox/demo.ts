import { sendMessage } from '../../../contracts/api/message.ts'
import { createAccount, requireAccount } from '../../accounts/account.ts'
import { generateKey } from '../../accounts/api-key.ts'
import { addWhatsAppAccount } from '../../accounts/whatsapp/add.ts'
import { activateWhatsAppAccount } from '../../accounts/whatsapp/change.ts'
import { findByPhoneNumberId } from '../../accounts/whatsapp/store.ts'
import type { Deps } from '../../deps.ts'
import { send } from '../../messages/send/send.ts'
import { findMessages } from '../../messages/store.ts'
import { syncTemplates } from '../../templates/sync.ts'
import { createOwnerAuth } from '../../users/sign-in/better-auth.ts'
import { findOwnerByEmail, saveRole } from '../../users/store.ts'

/** What the demo account sends with: a phone number of the simulator's. */
export interface DemoNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
}

export interface Demo {
  accountId: string
  /** The path of a link that signs the demo owner in, once. */
  signInPath: string
  /** Only when it was generated just now: a key is shown once. */
  apiKey?: string
  keyStart?: string
}

type DemoAccount = Omit<Demo, 'signInPath'>

/** Finds the demo account, or makes it, ready to send. A key that its owner revoked stays revoked. */
export async function prepareDemo(deps: Deps, number: DemoNumber, url: string): Promise<Demo> {
  const known = await findByPhoneNumberId(deps.db, number.phoneNumberId)
  const demo = known ? await reuseDemo(deps, known) : await createDemo(deps, number)
  await syncTemplates(deps, demo.accountId)
  return { ...demo, signInPath: await prepareDemoOwner(deps, demo.accountId, url) }
}

async function createDemo(deps: Deps, number: DemoNumber): Promise<DemoAccount> {
  const { accountId } = await createAccount(deps, { name: 'Demo' })
  const { apiKey, start } = await generateKey(deps, accountId)
  await addWhatsAppAccount(deps, accountId, number)
  return { accountId, apiKey, keyStart: start }
}

/** Meta refuses the simulator's token, so a command that met Meta with it has put it out of use. */
async function reuseDemo(
  deps: Deps,
  { id, account_id: accountId }: { id: string; account_id: string },
): Promise<DemoAccount> {
  await activateWhatsAppAccount(deps, accountId, id)
  const { keyStart } = await requireAccount(deps.db, accountId)
  return { accountId, keyStart }
}

/** Nobody reads e-mail there (RFC 2606). */
const email = 'demo@example.com'

/** The owner of the demo account, who has no password. Returns the path of a link that signs them in, once. */
export async function prepareDemoOwner(deps: Deps, accountId: string, publicUrl: string): Promise<string> {
  const ownerAuth = createOwnerAuth(deps, { publicUrl, oidc: undefined, signInLinks: true })
  const { id: ownerId } =
    (await findOwnerByEmail(deps.db, email)) ?? toId(await ownerAuth.createOwner({ email, name: 'Demo owner' }))
  await saveRole(deps.db, { account_id: accountId, owner_id: ownerId, role: 'owner' })
  return ownerAuth.createSignInLink(email)
}

function toId({ ownerId }: { ownerId: string }): { id: string } {
  return { id: ownerId }
}

/** So that who looks at the sandbox for the first time sees what a message goes through. */
export async function sendFirstMessage(deps: Deps, accountId: string): Promise<void> {
  const { rows } = await findMessages(deps.db, accountId, {}, 1)
  if (rows.length === 0) await send(deps, { accountId }, sendMessage.example.input)
}
