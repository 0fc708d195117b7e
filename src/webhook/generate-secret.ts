import { secretPrefix } from './sign.ts'

const secretBytes = 24

/** 24 to 64 random bytes in base64, behind a prefix (Standard Webhooks, "Signature scheme"). */
export function generateSecret(randomBytes: (size: number) => Uint8Array): string {
  return secretPrefix + Buffer.from(randomBytes(secretBytes)).toString('base64')
}
