import { type Kysely, sql } from 'kysely'
import { erasedRecipient } from '../../../contracts/fields.ts'
import {
  countBlocks,
  findColumnTypes,
  findLeafTables,
  type LeafTable,
  listKeyRanges,
  type Range,
  rowsPerRange,
} from '../../platform/db/leaf-tables.ts'
import { type NumberColumn, numberColumns } from '../../platform/db/number-columns.ts'
import { retryLocked } from '../../platform/db/locks.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { NumberMatcher } from './number.ts'
import { eraseAttempts, eraseReplyWords, replyWordsPattern } from './store.ts'

/** How many rows of a table were changed or deleted. */
export type ErasedRows = Record<string, number>

interface Target {
  matcher: NumberMatcher
  /** Only rows of this account. */
  accountId: string | undefined
}

/** Columns of a table to search. */
interface ColumnGroup {
  table: string
  columns: string[]
  kind: Exclude<NumberColumn, 'hash'>
}

export interface SweepProgress {
  table: string
  rows: number
}

const blocksPerStatement = 128

export function listColumnGroups(): ColumnGroup[] {
  return Object.entries(numberColumns).flatMap(([table, columns]) =>
    (['replace', 'replace-unique', 'delete-row'] as const).flatMap((kind) => {
      const names = Object.keys(columns).filter((name) => columns[name] === kind)
      return names.length === 0 ? [] : [{ table, columns: names, kind }]
    }),
  )
}

/**
 * Reads all listed columns and removes the number, in bounded statements, so that a large table never blocks others.
 * Returns the accounts whose rows changed. Reads all accounts unless one is given.
 */
export async function sweep(
  db: Kysely<Database>,
  target: Target,
  report: (progress: SweepProgress) => void = () => {},
): Promise<{ erased: ErasedRows; replies: number; accountIds: Set<string> }> {
  const erased: ErasedRows = {}
  let replies = 0
  const accountIds = new Set<string>()
  for (const group of listColumnGroups()) {
    let rows = 0
    for (const leaf of await findLeafTables(db, group.table))
      for await (const range of leaf.key.length > 0 ? listKeyRanges(db, leaf) : listBlockRanges(db, leaf)) {
        for (const { accountId, hadReply } of await retryLocked(() => eraseIn(db, { group, leaf, range }, target))) {
          accountIds.add(accountId)
          erased[group.table] = (erased[group.table] ?? 0) + 1
          if (hadReply) replies += 1
        }
        rows += rowsPerRange
        if (rows % (100 * rowsPerRange) === 0) report({ table: group.table, rows })
      }
  }
  return { erased, replies, accountIds }
}

/** For a table without a primary key, whose rows are never updated and therefore never move. */
async function* listBlockRanges(db: Kysely<Database>, { name }: LeafTable): AsyncGenerator<Range> {
  const blocks = await countBlocks(db, name)
  for (let block = 0; block < blocks; block += blocksPerStatement)
    yield sql`ctid >= ${`(${block},0)`}::tid and ctid < ${`(${block + blocksPerStatement},0)`}::tid`
}

interface FoundRow {
  ctid: string
  accountId: string
  /** Null unless the column is `replace-unique`, or the row is an event. */
  id: string | null
  texts: (string | null)[]
}

interface ErasedRow {
  accountId: string
  /** Whether what the person answered was removed, not only their names. */
  hadReply: boolean
}

/** Returns each row that was changed or deleted. */
async function eraseIn(
  db: Kysely<Database>,
  { group: { table: name, columns, kind }, leaf, range }: { group: ColumnGroup; leaf: LeafTable; range: Range },
  { matcher, accountId }: Target,
): Promise<ErasedRow[]> {
  const table = sql.table(leaf.name)
  const isEvents = name === 'events'
  const pattern = isEvents ? `${matcher.pattern}|${replyWordsPattern}` : matcher.pattern
  const texts = columns.map((column) => sql`${sql.ref(column)}::text`)
  const id = kind === 'replace-unique' || isEvents ? sql.ref('id') : sql`null`
  const ofAccount = accountId === undefined ? sql`true` : sql`account_id = ${accountId}`
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<FoundRow>`
      select ctid::text as ctid, account_id as "accountId", ${id} as id, array[${sql.join(texts)}] as texts from ${table}
      where ${range} and ${ofAccount}
        and (${sql.join(
          texts.map((text) => sql`${text} ~ ${pattern}`),
          sql` or `,
        )})
      for update`.execute(trx)
    if (rows.length === 0) return []
    const changes = rows.flatMap(({ texts: before, ...row }) => {
      const uniqueId = kind === 'replace-unique' ? row.id : null
      const unnamed = before.map((text) => (text === null ? null : eraseText(matcher, text, uniqueId)))
      const after = isEvents ? unnamed.map((text) => text && eraseReplyWords(text)) : unnamed
      const hadReply = after.some((text, index) => text !== unnamed[index])
      return after.every((text, index) => text === before[index]) ? [] : [{ ...row, after, hadReply }]
    })
    if (kind === 'delete-row')
      await sql`delete from ${table} where ctid = any(${changes.map(({ ctid }) => ctid)}::tid[])`.execute(trx)
    else await writeTexts(trx, { table: leaf.name, columns }, changes)
    const replied = changes.filter(({ hadReply }) => hadReply)
    for (const [ofEvents, events] of Map.groupBy(replied, (event) => event.accountId))
      await eraseAttempts(
        trx,
        ofEvents,
        events.map((event) => event.id ?? ''),
      )
    return changes.map(({ accountId, hadReply }) => ({ accountId, hadReply }))
  })
}

interface ChangedTexts {
  ctid: string
  after: (string | null)[]
}

/** The rows are locked, so their ctids are still valid. */
async function writeTexts(
  trx: Kysely<Database>,
  { table, columns }: { table: string; columns: ColumnGroup['columns'] },
  changes: readonly ChangedTexts[],
): Promise<void> {
  const ctids = changes.map(({ ctid }) => ctid)
  const types = await findColumnTypes(trx, table, columns)
  const lists = columns.map((_, index) => sql`${changes.map(({ after }) => after[index] ?? null)}::text[]`)
  const names = columns.map((_, index) => sql.ref(`text_${index}`))
  const values = columns.map(
    (column, index) => sql`${sql.ref(column)} = erased.${sql.ref(`text_${index}`)}::${sql.raw(types[index] ?? 'text')}`,
  )
  await sql`
    update ${sql.table(table)} t set ${sql.join(values)}
    from unnest(${ctids}::text[], ${sql.join(lists)}) as erased (row_ctid, ${sql.join(names)})
    where t.ctid = any(${ctids}::tid[]) and t.ctid = erased.row_ctid::tid`.execute(trx)
}

/** In a unique column, the replacement contains the ID of its row, so that it stays unique. */
function eraseText(matcher: NumberMatcher, text: string, id: string | null): string {
  const erased = matcher.erase(text)
  return id === null || erased === text ? erased : `${erasedRecipient}-${id}`
}
