import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { ServiceError } from '../../../contracts/errors.ts'

/** Two of the four threads that Node has for such work: the names of receivers are looked up on them too. */
const atOnce = 2
/** A hash takes about 80 ms (scrypt): whoever comes last waits a second. */
const mostWaiting = 20

/** better-auth's own hashes, a few at a time: many who sign in at once must not keep messages from being sent. */
export function createPasswordHashing() {
  const inTurn = createTurns()
  return {
    hash: (password: string) => inTurn(() => hashPassword(password)),
    verify: (given: { hash: string; password: string }) => inTurn(() => verifyPassword(given)),
  }
}

function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let atWork = 0
  return async (work) => {
    if (atWork < atOnce) atWork++
    else if (waiting.length < mostWaiting) await new Promise<void>((resolve) => void waiting.push(resolve))
    else throw tooMany()
    try {
      return await work()
    } finally {
      // The place goes to whoever is next, and is free when nobody is.
      const next = waiting.shift()
      if (next) next()
      else atWork--
    }
  }
}

function tooMany(): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Too many people sign in at this moment. Try again in a few seconds.',
    {
      retryAfterSeconds: 3,
    },
  )
}
