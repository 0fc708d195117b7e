import { hash } from 'node:crypto'

/** Spec, API key: a fixed vendor prefix, then `_live_`, then 64 hexadecimal characters. */
const prefix = 'wb_live_'
const randomByteCount = 32
const pattern = /^wb_live_[0-9a-f]{64}$/
const startLength = prefix.length + 6

export interface NewApiKey {
  /** Shown once; only its hash is kept. */
  apiKey: string
  /** The first characters, enough to tell keys apart. */
  start: string
  hash: Uint8Array
}

export function generateApiKey(randomBytes: (size: number) => Uint8Array): NewApiKey {
  const apiKey = prefix + Buffer.from(randomBytes(randomByteCount)).toString('hex')
  return { apiKey, start: apiKey.slice(0, startLength), hash: hashApiKey(apiKey) }
}

/** Whether a text has the form of a key; any other is nobody's, and needs no look into the database. */
export function isApiKey(text: string): boolean {
  return pattern.test(text)
}

/** A key has 256 bits of chance in it, so a plain SHA-256 protects it: there is nothing to guess. */
export function hashApiKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer')
}
