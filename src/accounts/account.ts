import type { Kysely } from 'kysely'
import { TimeZone } from '../../contracts/dashboard/alert.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { errorFacts } from '../../contracts/facts/errors.ts'
import { singleLine } from '../../contracts/fields.ts'
import type { Account } from '../../contracts/command-line/account.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { type AccountRow, changeAccount, findAccount, findAccounts, insertAccount, markSuspended } from './store.ts'

function toAccount(row: AccountRow): Account {
  return {
    accountId: row.id,
    name: row.name,
    api: row.apiEnabled ? 'enabled' : 'disabled',
    rateLimit: row.rateLimit,
    templateChanges: row.templateChangesEnabled ? 'enabled' : 'disabled',
    mcp: row.mcpEnabled ? 'enabled' : 'disabled',
    allowList: row.allowList,
    ...(row.messageContentsDays !== null && { messageContentsDays: row.messageContentsDays }),
    timeZone: row.timeZone,
    ...(row.suspendedAt !== null && { suspendedAt: row.suspendedAt.toISOString() }),
    ...(row.keyStart !== null && { keyStart: row.keyStart }),
    createdAt: row.createdAt.toISOString(),
  }
}

export function accountNotFound(accountId: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no account ${JSON.stringify(accountId)}.`, {
    remedy: 'List the accounts: waybill account list',
  })
}

export async function requireAccount(db: Kysely<Database>, accountId: string): Promise<Account> {
  const row = await findAccount(db, accountId)
  if (!row) throw accountNotFound(accountId)
  return toAccount(row)
}

const Name = singleLine(200)

export async function createAccount(
  deps: Pick<Deps, 'db' | 'now' | 'newId'>,
  input: { name: string },
): Promise<Account> {
  const name = Name.safeParse(input.name.trim())
  if (!name.success)
    throw new ServiceError('SETTING_REFUSED', `The name of an account ${name.error.issues[0]?.message}.`)
  const id = deps.newId('acc')
  await insertAccount(deps.db, { id, name: name.data, createdAt: deps.now() })
  return requireAccount(deps.db, id)
}

export async function listAccounts(deps: Pick<Deps, 'db'>): Promise<Account[]> {
  const rows = await findAccounts(deps.db)
  return rows.map(toAccount)
}

const maxRateLimit = 1_000_000

export interface AccountUpdate {
  apiEnabled?: boolean | undefined
  rateLimit?: number | undefined
  templateChangesEnabled?: boolean | undefined
  mcpEnabled?: boolean | undefined
  timeZone?: string | undefined
  /** Null stops storing contents. Contents already stored are no longer shown, and `deleteOldContents` deletes them. */
  messageContentsDays?: number | null | undefined
}

/** Takes effect with the next request, because account data is not cached. */
export async function updateAccount(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  { apiEnabled, rateLimit, templateChangesEnabled, mcpEnabled, timeZone, messageContentsDays }: AccountUpdate,
): Promise<Account> {
  const given = [apiEnabled, rateLimit, templateChangesEnabled, mcpEnabled, timeZone, messageContentsDays]
  if (given.every((value) => value === undefined))
    throw new ServiceError('SETTING_REFUSED', 'Nothing to change: no setting was given.', {
      remedy: 'List the settings: waybill account update --help',
    })
  const zone = TimeZone.safeParse(timeZone ?? 'UTC')
  if (!zone.success) throw new ServiceError('SETTING_REFUSED', `The time zone ${zone.error.issues[0]?.message}.`)
  if (rateLimit !== undefined && !(Number.isInteger(rateLimit) && rateLimit >= 1 && rateLimit <= maxRateLimit))
    throw new ServiceError(
      'SETTING_REFUSED',
      `The rate limit must be a whole number of requests per minute, 1 to ${maxRateLimit}.`,
    )
  const changed = await changeAccount(deps.db, accountId, {
    apiEnabled,
    rateLimit,
    templateChangesEnabled,
    mcpEnabled,
    timeZone: timeZone === undefined ? undefined : zone.data,
    contents: messageContentsDays === undefined ? undefined : { keptDays: messageContentsDays, since: deps.now() },
  })
  if (!changed) throw accountNotFound(accountId)
  return requireAccount(deps.db, accountId)
}

/**
 * Rejects the API key and every send of the account from the next request on, because account data is not cached.
 * The owners' own API access setting does not change. Statuses are still received and delivered.
 */
export async function suspendAccount({ db }: Pick<Deps, 'db'>, accountId: string): Promise<Account> {
  if (!(await markSuspended(db, accountId))) throw accountNotFound(accountId)
  return requireAccount(db, accountId)
}

export async function resumeAccount({ db }: Pick<Deps, 'db'>, accountId: string): Promise<Account> {
  if (!(await changeAccount(db, accountId, { suspendedAt: null }))) throw accountNotFound(accountId)
  return requireAccount(db, accountId)
}

export function accountSuspended(): ServiceError {
  return new ServiceError('API_DISABLED', errorFacts.suspended())
}
