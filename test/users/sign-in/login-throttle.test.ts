import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeRequest } from '../../../src/users/sign-in/login-throttle.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('counts the first requests of a network exactly, also if they arrive at once', async () => {
  for (let network = 0; network < 200; network++) {
    const request = { key: `192.0.2.${network}|/sign-in`, max: 3, seconds: 60 }
    const lockouts = await Promise.all(Array.from({ length: 8 }, () => takeRequest(database, request)))
    expect(lockouts.filter((lockout) => lockout === undefined)).toHaveLength(3)
  }
})
