import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { createAccount, updateAccount } from '../../src/accounts/account.ts'
import { generateKey } from '../../src/accounts/api-key.ts'
import { addWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { type App, buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/platform/config.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import type { Simulator } from '../../src/whatsapp/simulator/simulator.ts'

export const secretKey = randomBytes(32).toString('base64')

const dataDir = mkdtempSync(path.join(tmpdir(), 'waybill-faults-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

/** The environment of a node that uses the simulator. All nodes of a test file share a folder for their journals. */
export function environmentOf(databaseUrl: string, simulator: Simulator): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_SECRET_KEY: secretKey,
    GRAPH_API_URL: simulator.url,
  }
}

export function openApp(environment: Record<string, string>): App {
  return buildApp(readConfig(environment), { log: pino({ level: 'silent' }) })
}

/** Creates a customer who can send through the simulator. */
export async function createCustomer(
  { deps }: App,
  simulator: Pick<Simulator, 'phoneNumberId' | 'wabaId' | 'accessToken'>,
): Promise<{ accountId: string; apiKey: string }> {
  await migrate(deps.db)
  const { accountId } = await createAccount(deps, { name: 'Fault tests' })
  await updateAccount(deps, accountId, { rateLimit: 1_000_000, templateChangesEnabled: true })
  const { apiKey } = await generateKey(deps, accountId)
  // The upstream of a chaos campaign does not describe phone numbers, so the account is added unverified.
  const { phoneNumberId, wabaId, accessToken } = simulator
  await addWhatsAppAccount(deps, accountId, { phoneNumberId, wabaId, accessToken, unverified: true })
  await syncTemplates(deps, accountId)
  return { accountId, apiKey }
}
