import type { SecretBox } from './secret-box.ts'

const maxRemembered = 10_000

/** Decrypts each ciphertext once: for whoever opens the same secrets thousands of times a second. */
export function rememberSecrets(box: SecretBox): SecretBox {
  const opened = new Map<string, string>()
  return {
    ...box,
    decrypt(ciphertext, purpose) {
      // The purpose is bound to the ciphertext: both make the key, so that neither passes for another.
      const key = `${purpose} ${ciphertext}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const plaintext = box.decrypt(ciphertext, purpose)
      if (opened.size >= maxRemembered) opened.clear()
      opened.set(key, plaintext)
      return plaintext
    },
  }
}
