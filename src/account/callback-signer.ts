import { setImmediate } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { scanIds } from '../whatsapp/inbound-ids.ts'
import { isSignedWith } from '../whatsapp/signature.ts'
import { findSecretOfAddress, findSecretsOfIds } from './callback-senders.ts'

export interface SignedCallback {
  /** The raw bytes: the signature is theirs. */
  body: Buffer
  /** Value of `X-Hub-Signature-256`. */
  signature: string
  /** From the path of the request; undefined at the address that all apps share. */
  whatsAppAccountId: string | undefined
}

const maxSecrets = 5
/** Hashing takes a millisecond per megabyte: a large body gets fewer attempts, but always one. */
const maxHashedBytes = 3 * 1024 * 1024

/**
 * The app secret that signed a callback; undefined when it is none of ours. Nothing is parsed before: the body can
 * be anybody's. The secret is known from the address or is the service's; otherwise the ids that the body seems to
 * name lead to a few candidates. The address of a WhatsApp account that was removed is like the shared one, since
 * its app can report on other numbers too.
 */
export async function findCallbackSigner(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { body, signature, whatsAppAccountId }: SignedCallback,
  defaultAppSecret: string | undefined,
): Promise<string | undefined> {
  const signed = (secret: string) => isSignedWith(body, signature, secret)
  if (whatsAppAccountId !== undefined) {
    const { known, appSecret } = await findSecretOfAddress(deps, whatsAppAccountId, defaultAppSecret)
    if (known) return appSecret !== undefined && signed(appSecret) ? appSecret : undefined
  }
  if (defaultAppSecret !== undefined && signed(defaultAppSecret)) return defaultAppSecret
  const maxAttempts = Math.max(1, Math.min(maxSecrets, Math.floor(maxHashedBytes / Math.max(1, body.length))))
  const candidates = await findSecretsOfIds(deps, scanIds(body), maxAttempts)
  for (const candidate of candidates) {
    if (candidate !== defaultAppSecret && signed(candidate)) return candidate
    // Each attempt at a large body takes milliseconds.
    await setImmediate()
  }
  return undefined
}
