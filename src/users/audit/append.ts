import type { Kysely } from 'kysely'
import { changes } from '../../../contracts/facts/changes.ts'
import { type Sentence, inEnglish } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import type { AuditOutcome, Database } from '../../platform/db/schema.ts'
import { inTransaction } from '../../platform/db/statement.ts'
import {
  type AuditKey,
  type AuditKeys,
  chainStart,
  createAuditKey,
  nextSequence,
  readAuditKeys,
  sealEntry,
  sealHead,
} from './chain.ts'
import {
  deleteUnchainedEntries,
  findAuditKeys,
  findLastSequence,
  findUnchainedEntries,
  insertAuditChain,
  insertAuditEntries,
  lockAuditChain,
  lockAuditKeys,
  updateAuditChain,
} from './store.ts'

/** The dependencies for writing to the audit log. */
export type AuditDeps = Pick<Deps, 'db' | 'newId' | 'log' | 'secrets' | 'randomBytes'>

export interface NewAuditEntry {
  accountId: string
  /** ID of the action, shared by its start and its outcome. */
  id: string
  who: string
  what: Sentence
  address: string
  outcome: AuditOutcome
  /** For an outcome: the number of the entry of its start. */
  startSequence?: number
}

/** Appends an entry to the chain of its account and returns its number. It may be called within a transaction. */
export async function appendAuditEntry(deps: AuditDeps, entry: NewAuditEntry): Promise<number> {
  const { keys, current } = await openAuditLog(deps)
  return inTransaction(deps.db, async (trx) => {
    const at = await readDatabaseClock(trx)
    const [sequence = 0] = await appendAll(trx, entry.accountId, [{ ...entry, at }], { keys, current })
    return sequence
  })
}

interface Keys {
  keys: AuditKeys
  /** The key that seals new entries. */
  current: AuditKey
}

/**
 * Returns the keys of the audit log. Its first use creates the first key and adds the entries of an earlier version to
 * the chains. That happens only once, so that write access to the database is not enough to have forged entries added
 * later.
 */
export async function openAuditLog(deps: AuditDeps): Promise<Keys> {
  const keys = await readAuditKeys(deps)
  const [current] = keys.values()
  if (current) return { keys, current }
  return inTransaction(deps.db, async (trx) => {
    await lockAuditKeys(trx)
    const trxDeps = { ...deps, db: trx }
    const present = await readAuditKeys(trxDeps)
    const [another] = present.values()
    if (another) return { keys: present, current: another }
    const isFirst = (await findAuditKeys(trx)).length === 0
    const created = await createAuditKey(trxDeps)
    const opened = { keys: new Map([[created.id, created]]), current: created }
    if (isFirst) await adoptUnchainedEntries(trxDeps, opened)
    else deps.log.error('could not decrypt the key of the audit log and created a new one; run: waybill doctor')
    return opened
  })
}

interface DatedEntry extends Omit<NewAuditEntry, 'accountId'> {
  at: Date
}

/** Locks the head until the transaction ends, so that concurrent writers of an account run one after another. */
async function appendAll(
  trx: Kysely<Database>,
  accountId: string,
  entries: readonly DatedEntry[],
  { keys, current }: Keys,
): Promise<number[]> {
  const head = await lockOrCreateChain(trx, accountId, current)
  let [sequence, hash] = [nextSequence(head, await findLastSequence(trx, accountId), keys) - 1, head.hash]
  const sealed = entries.map(({ id, outcome, who, what, address, at, startSequence = null }) => {
    const entry = sealEntry(
      hash,
      {
        accountId,
        sequence: (sequence += 1),
        startSequence,
        id,
        outcome,
        who: toStorable(who),
        what: toStorable(inEnglish(what)),
        fact: typeof what === 'string' ? null : toStorable(JSON.stringify(what)),
        hashVersion: 2,
        address: toStorable(address),
        createdAt: at,
      },
      current,
    )
    hash = entry.hash
    return entry
  })
  await insertAuditEntries(trx, sealed)
  await updateAuditChain(trx, sealHead({ ...head, sequence, hash }, current))
  return sealed.map((entry) => entry.sequence)
}

async function lockOrCreateChain(trx: Kysely<Database>, accountId: string, current: AuditKey) {
  const known = await lockAuditChain(trx, accountId)
  if (known) return known
  const { sequence, hash } = chainStart
  const empty = { accountId, sequence, hash, expiredSequence: sequence, expiredHash: hash }
  await insertAuditChain(trx, sealHead(empty, current))
  const created = await lockAuditChain(trx, accountId)
  if (!created) throw new Error('the head of an audit log disappeared while it was created')
  return created
}

const adoptedPerBatch = 1000

async function adoptUnchainedEntries({ db: trx, newId }: AuditDeps, keys: Keys): Promise<void> {
  const counts = new Map<string, number>()
  for (let after: { accountId: string; id: string } | undefined; ;) {
    const rows = await findUnchainedEntries(trx, { after, limit: adoptedPerBatch })
    for (const [accountId, entries] of Map.groupBy(rows, (row) => row.accountId)) {
      await appendAll(trx, accountId, entries, keys)
      counts.set(accountId, (counts.get(accountId) ?? 0) + entries.length)
    }
    after = rows.at(-1)
    if (!after) break
  }
  const at = await readDatabaseClock(trx)
  for (const [accountId, count] of counts) {
    // Recorded because the earlier entries were unprotected until now.
    const what = count === 1 ? changes.adoptEntry() : changes.adoptEntries({ count })
    const entry = { id: newId('aud'), outcome: 'done', who: 'waybill', what, address: 'upgrade', at } as const
    await appendAll(trx, accountId, [entry], keys)
  }
  await deleteUnchainedEntries(trx)
}

/** Hashes the text as PostgreSQL returns it: without NUL and unpaired surrogates. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}')
}
