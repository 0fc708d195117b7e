import type { Deps } from '../deps.ts'
import { openSecret, type SecretOwner } from './open-secret.ts'
import { accessTokenPurpose } from './secret-purposes.ts'

/** The token that a WhatsApp account sends and reads with; undefined when no key of ours opens it. */
export function openAccessToken(
  deps: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  ciphertext: string,
): string | undefined {
  return openSecret(deps, owner, { ciphertext, purpose: accessTokenPurpose(owner.whatsAppAccountId) })
}

export function describeUnreadableToken(whatsAppAccountId: string): string {
  return `The access token of the WhatsApp account ${whatsAppAccountId} cannot be decrypted with the keys of this service. Its operator has to add the key that encrypted it, or the WhatsApp account anew.`
}
