import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { rekey } from '../../src/accounts/rekey.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { listStoredSecrets } from '../../src/cli/stored-secrets.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { rotateSecret } from '../../src/webhooks/endpoints/secrets.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestDeps, nextPhoneNumberId } from '../support/deps.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())

test('re-encrypts every stored secret with the new key', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const before = { ...createTestDeps(database), secrets: createSecretBox([oldKey], randomBytes) }
  const { accountId } = await createAccount(before, { name: 'Rekey' })
  const input = { phoneNumberId: nextPhoneNumberId(), wabaId: '1', accessToken: 'EAAtoken', appSecret: 'app-secret' }
  await addWhatsAppAccount(before, accountId, input)
  const headers = [['Authorization', 'Bearer abc']] as const
  const { endpointId, secret } = await addEndpoint(before, accountId, { url: 'https://example.com/', headers })
  const rotated = await rotateSecret(before, accountId, endpointId)

  const during = { ...before, secrets: createSecretBox([newKey, oldKey], randomBytes) }
  expect(await rekey(during, listStoredSecrets)).toEqual({ secrets: 5, rekeyed: 5 })
  expect(await rekey(during, listStoredSecrets)).toEqual({ secrets: 5, rekeyed: 0 })

  const after = createSecretBox([newKey], randomBytes)
  const stored = await listStoredSecrets(before.db)
  expect(stored.map(({ ciphertext, purpose }) => after.decrypt(ciphertext, purpose))).toEqual([
    'EAAtoken',
    'app-secret',
    rotated.secret,
    secret,
    '{"Authorization":"Bearer abc"}',
  ])
})

test('does not overwrite a secret that changed during a rekey', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const before = { ...createTestDeps(database), secrets: createSecretBox([oldKey], randomBytes) }
  const { accountId } = await createAccount(before, { name: 'Rekey' })
  const { endpointId } = await addEndpoint(before, accountId, { url: 'https://example.com/' })
  const listed = (await listStoredSecrets(before.db)).filter(({ recordId }) => recordId === endpointId)
  const during = { ...before, secrets: createSecretBox([newKey, oldKey], randomBytes) }
  const { secret } = await rotateSecret(during, accountId, endpointId, { overlapSeconds: 0 })

  expect(await rekey(during, () => Promise.resolve(listed))).toEqual({ secrets: 1, rekeyed: 0 })

  const now = (await listStoredSecrets(before.db)).find(({ recordId }) => recordId === endpointId)
  expect(during.secrets.decrypt(now?.ciphertext ?? '', now?.purpose ?? '')).toBe(secret)
})
