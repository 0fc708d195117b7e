import { createHash } from 'node:crypto'
import { networkOf } from '../auth/ip-allow-list.ts'
import type { Deps } from '../deps.ts'
import { countRequest, countTry } from './tries-store.ts'

/** How often something may be tried for one person, from all addresses together. */
export interface Tries {
  of: string
  most: number
  seconds: number
}

/** NIST SP 800-63B, 3.2.2: no more than a hundred wrong ones, however many addresses they come from. */
export const passwordTries: Tries = { of: 'password', most: 100, seconds: 3600 }
/** Fewer from one address, so that it takes several to keep somebody out. `signInTriesFromOne` is for all whom it tries. */
export const passwordTriesFromOne: Tries = { of: 'password from one address', most: 30, seconds: 3600 }
/** Of one address, which may be a whole office, for all whom it tries. */
export const signInTriesFromOne = { most: 10, seconds: 60 }
/** Three of a million codes are right at any time, so these are few. */
export const codeTries: Tries = { of: 'code', most: 20, seconds: 3600 }
/** Of entries in the audit log about locks: each address that is locked writes one, and addresses are cheap. */
export const lockEntryTries: Tries = { of: 'lock entry', most: 10, seconds: 3600 }
/** RFC 6238, 5.2: a code is good once. It is accepted for a step before and after its own. */
export const sameCodeTries: Tries = { of: 'same code', most: 1, seconds: 90 }

/** Why a try is not allowed. */
export interface Lock {
  secondsLeft: number
  /** Whether this very try is the first one too many. */
  begins: boolean
}

/**
 * Undefined when one more is allowed. It is counted before anything is checked, so of many at once no more pass.
 * Who is tried for need not exist, and right ones count too: so nobody learns from it what they do not know.
 */
export async function takeTry(
  { db }: Pick<Deps, 'db'>,
  { of, most, seconds }: Tries,
  who: string,
): Promise<Lock | undefined> {
  // Strangers choose what is stored here: it has one length, and is not what they typed.
  const key = createHash('sha256').update(`${of}:${who.toLowerCase()}`).digest()
  const { count, secondsLeft } = await countTry(db, { key, seconds })
  return toLock({ count, secondsLeft }, most)
}

/** As `takeTry`. */
export async function takePasswordTry(deps: Pick<Deps, 'db'>, { email, address }: { email: string; address: string }) {
  return (
    (await takeTry(deps, passwordTriesFromOne, `${email} ${networkOf(address)}`)) ?? takeTry(deps, passwordTries, email)
  )
}

/** As `takeTry`, for requests of one address to one path; `key` is better-auth's. */
export async function takeRequest(
  { db }: Pick<Deps, 'db'>,
  { key, most, seconds }: { key: string; most: number; seconds: number },
): Promise<Lock | undefined> {
  return toLock(await countRequest(db, { key, seconds }), most)
}

function toLock({ count, secondsLeft }: { count: number; secondsLeft: number }, most: number): Lock | undefined {
  if (count <= most) return undefined
  return { secondsLeft: Math.max(1, Math.ceil(secondsLeft)), begins: count === most + 1 }
}
