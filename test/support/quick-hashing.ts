import { createHash, randomBytes } from 'node:crypto'
import type { PasswordHashing } from '../../src/users/sign-in/password-hashing.ts'

/** Scrypt takes a core 80 ms for each sign-in, which made up most of the time of tests with users. */
export const quickHashing: PasswordHashing = {
  hash: (password) => {
    const salt = randomBytes(8).toString('hex')
    return Promise.resolve(`${salt}:${digest(salt, password)}`)
  },
  verify: ({ hash, password }) => {
    const [salt = '', digested] = hash.split(':')
    return Promise.resolve(digested === digest(salt, password))
  },
}

function digest(salt: string, password: string): string {
  return createHash('sha256').update(`${salt}${password}`).digest('hex')
}
