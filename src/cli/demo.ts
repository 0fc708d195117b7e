import { activateWhatsAppAccount } from '../account/activate-whatsapp-account.ts'
import { requireAccount } from '../account/account.ts'
import { addWhatsAppAccount } from '../account/add-whatsapp-account.ts'
import { createAccount } from '../account/create-account.ts'
import { generateKey } from '../account/generate-key.ts'
import { findByPhoneNumberId } from '../account/whatsapp-account-store.ts'
import type { Deps } from '../deps.ts'
import { syncTemplates } from '../template/sync.ts'
import { prepareDemoOwner } from './demo-owner.ts'

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
