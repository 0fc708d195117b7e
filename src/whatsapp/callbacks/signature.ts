import { createHmac, timingSafeEqual } from 'node:crypto'

/** Computes `X-Hub-Signature-256`: HMAC-SHA256 of the raw body with the app secret (reference, 4.2). */
export function signCallback(body: Buffer, appSecret: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
}

/** Compares in constant time. */
export function isSignedWith(body: Buffer, signature: string, appSecret: string): boolean {
  const [expected, given] = [Buffer.from(signCallback(body, appSecret)), Buffer.from(signature.toLowerCase())]
  return expected.length === given.length && timingSafeEqual(expected, given)
}
