import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'
import { OperatorError } from './operator-error.ts'
import { findAccount, type AccountRow } from './store.ts'

/** An account as its operator sees it. */
export interface Account {
  accountId: string
  name: string
  api: 'enabled' | 'disabled'
  /** Sends per minute. */
  rateLimit: number
  allowList: string[]
  /** The first characters of the API key; absent when there is no key. */
  keyStart?: string
  createdAt: string
}

export function toAccount(row: AccountRow): Account {
  return {
    accountId: row.id,
    name: row.name,
    api: row.api_enabled ? 'enabled' : 'disabled',
    rateLimit: row.rate_limit_per_minute,
    allowList: row.allow_list,
    ...(row.key_start !== null && { keyStart: row.key_start }),
    createdAt: row.created_at.toISOString(),
  }
}

export function noSuchAccount(accountId: string): OperatorError {
  return new OperatorError(`There is no account ${JSON.stringify(accountId)}.`, {
    missing: true,
    remedy: 'The accounts are listed by: waybill account list',
  })
}

export async function requireAccount(db: Kysely<Database>, accountId: string): Promise<Account> {
  const row = await findAccount(db, accountId)
  if (!row) throw noSuchAccount(accountId)
  return toAccount(row)
}
