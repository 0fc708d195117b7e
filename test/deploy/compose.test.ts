import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { run } from '../clients/tools.ts'
import { readCompose, readSecretsLine } from './compose.ts'
import { folderForFile } from '../support/lifetime.ts'

const folder = await folderForFile()

test('one command generates the secrets, and keeps existing ones', async () => {
  await run(folder, 'bash', ['-c', await readSecretsLine()])
  const made = await readFile(path.join(folder, '.env'), 'utf8')
  const { POSTGRES_PASSWORD, WAYBILL_SECRET_KEY = '' } = parseEnv(made)

  expect(POSTGRES_PASSWORD).toMatch(/^[0-9a-f]{48}$/)
  expect(Buffer.from(WAYBILL_SECRET_KEY, 'base64')).toHaveLength(32)
  expect((await stat(path.join(folder, '.env'))).mode & 0o777).toBe(0o600)
  await expect(run(folder, 'bash', ['-c', await readSecretsLine()])).rejects.toThrow('.env')
  expect(await readFile(path.join(folder, '.env'), 'utf8')).toBe(made)
})

test('the secrets have no default, so that nothing starts without them', async () => {
  await expect(readCompose({})).rejects.toThrow('see the head of compose.yaml')
})
