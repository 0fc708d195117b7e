import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { ServiceError } from '../../../contracts/errors.ts'
import { isCallerKnown } from './hashing-caller.ts'

/** Two of Node's four threads for such work, because DNS lookups of webhook endpoints use them too. */
const maxConcurrent = 2
/** A hash takes about 80 ms (scrypt), so the last in the queue waits about a second. */
const maxWaiting = 20
/** The passwords of unknown callers, who can come from any number of networks, leave the rest to known ones. */
const ofUnknown = { maxConcurrent: 1, maxWaiting: 10 }

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
  const known: Lane = { running: 0, waiting: [], maxConcurrent, maxWaiting }
  const unknown: Lane = { running: 0, waiting: [], ...ofUnknown }
  const mayStart = (lane: Lane) => lane.running < lane.maxConcurrent && known.running + unknown.running < maxConcurrent
  const mayWait = ({ waiting, maxWaiting: most }: Lane) =>
    waiting.length < most && known.waiting.length + unknown.waiting.length < maxWaiting
  return async (work) => {
    const lane = isCallerKnown() ? known : unknown
    if (mayStart(lane)) lane.running++
    else if (mayWait(lane)) await new Promise<void>((resolve) => void lane.waiting.push(resolve))
    else throw tooMany()
    try {
      return await work()
    } finally {
      lane.running--
      const next = [known, unknown].find((other) => other.waiting.length > 0 && mayStart(other))
      if (next) {
        next.running++
        next.waiting.shift()?.()
      }
    }
  }
}

/** The callers who are known, or those who are not. */
interface Lane {
  running: number
  waiting: (() => void)[]
  maxConcurrent: number
  maxWaiting: number
}

function tooMany(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Too many users are signing in. Try again in a few seconds.', {
    retryAfterSeconds: 3,
  })
}
