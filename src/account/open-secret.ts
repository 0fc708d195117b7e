import type { Deps } from '../deps.ts'

/** Whose secret it is, for whoever reads the log. */
export interface SecretOwner {
  accountId: string
  whatsAppAccountId: string
}

/**
 * A stored secret in the clear. Undefined when no key of ours opens it, which the log tells: one lost
 * secret must not stop the work for everybody else.
 */
export function openSecret(
  { secrets, log }: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  { ciphertext, purpose }: { ciphertext: string; purpose: string },
): string | undefined {
  try {
    return secrets.decrypt(ciphertext, purpose)
  } catch (error) {
    log.error({ err: error, ...owner }, 'a stored secret cannot be decrypted; see: waybill doctor')
    return undefined
  }
}
