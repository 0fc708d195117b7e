import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { ServiceError } from '../../../contracts/errors.ts'

/** Two of Node's four threads for such work, because DNS lookups of webhook endpoints use them too. */
const maxConcurrent = 2
/** A hash takes about 80 ms (scrypt), so the last in the queue waits about a second. */
const maxWaiting = 20

export interface PasswordHashing {
  hash(password: string): Promise<string>
  verify(given: { hash: string; password: string }): Promise<boolean>
}

export const scryptHashing: PasswordHashing = { hash: hashPassword, verify: verifyPassword }

/** Limits how many passwords are hashed at once, so that many sign-ins do not delay messages. */
export function limitHashing(hashing: PasswordHashing): PasswordHashing {
  const limit = createLimiter()
  return {
    hash: (password) => limit(() => hashing.hash(password)),
    verify: (given) => limit(() => hashing.verify(given)),
  }
}

function createLimiter(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < maxConcurrent) running++
    else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => void waiting.push(resolve))
    else throw tooMany()
    try {
      return await work()
    } finally {
      // Passes the slot to the next caller, or frees it.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

function tooMany(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Too many users are signing in. Try again in a few seconds.', {
    retryAfterSeconds: 3,
  })
}
