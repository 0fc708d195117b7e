import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addWhatsAppAccount } from '../../src/account/add-whatsapp-account.ts'
import { createAccount } from '../../src/account/create-account.ts'
import { listStoredSecrets, rekey } from '../../src/account/rekey.ts'
import { createSecretBox } from '../../src/secret-box.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { createTestDeps, nextPhoneNumberId } from './deps.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('after a rekey the new key alone reads every stored secret', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const before = { ...createTestDeps(database), secrets: createSecretBox([oldKey], randomBytes) }
  const { accountId } = await createAccount(before, { name: 'Rekey' })
  const input = { phoneNumberId: nextPhoneNumberId(), wabaId: '1', accessToken: 'EAAtoken', appSecret: 'app-secret' }
  await addWhatsAppAccount(before, accountId, input)

  const during = { ...before, secrets: createSecretBox([newKey, oldKey], randomBytes) }
  expect(await rekey(during)).toEqual({ secrets: 2, rekeyed: 2 })
  expect(await rekey(during)).toEqual({ secrets: 2, rekeyed: 0 })

  const after = createSecretBox([newKey], randomBytes)
  const stored = await listStoredSecrets(before)
  expect(stored.map(({ ciphertext, purpose }) => after.decrypt(ciphertext, purpose))).toEqual([
    'EAAtoken',
    'app-secret',
  ])
})
