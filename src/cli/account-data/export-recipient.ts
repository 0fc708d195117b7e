import { type Kysely, sql } from 'kysely'
import { matchNames } from '../../messages/erasure/number.ts'
import { openContent } from '../../messages/contents/content.ts'
import { findFirstShown } from '../../messages/contents/store.ts'
import { findKeysOf } from '../../messages/recipients/store.ts'
import { findAccountsWithNames } from '../../messages/suppressions/erased-store.ts'
import { spellingsOf, storedKeysOf } from '../../messages/suppressions/number-key.ts'
import { listKeyRanges, type Range } from '../../platform/db/leaf-tables.ts'
import type { Database } from '../../platform/db/schema.ts'
import { events, type ExportDeps, identities, messages, type PageQuery, readPages, suppressions } from './export.ts'

interface Person {
  /** A number in any of its spellings, digits only; or a user ID. */
  recipient: string
  /** All accounts if absent. */
  accountId?: string | undefined
}

/** Everything under which a person is stored: all spellings of the number, and the user IDs reported with it. */
export async function listNamesOf(db: Kysely<Database>, { recipient, accountId }: Person): Promise<string[]> {
  const keys = new Set(storedKeysOf(recipient))
  for (const id of await findAccountsWithNames(db, [...keys], accountId))
    for (const key of keys) for (const other of await findKeysOf(db, id, key)) keys.add(other)
  return [...new Set([...keys].flatMap(spellingsOf))]
}

/** Yields pages of what an account stores about a person, as in the export of the account. */
export async function* exportRecipient(
  deps: ExportDeps,
  accountId: string,
  names: readonly string[],
): AsyncGenerator<{ type: string; data: object }[], void, void> {
  for (const [type, pages] of listSections(deps, accountId, names))
    for await (const page of pages) if (page.length > 0) yield page.map((data) => ({ type, data }))
}

type Pages = AsyncGenerator<object[], void, void>

function listSections(deps: ExportDeps, accountId: string, names: readonly string[]): [type: string, pages: Pages][] {
  const read = <Row>(query: PageQuery<Row>, column: string) =>
    readPages(deps.db, accountId, { ...query, where: sql`${sql.ref(column)} = any(${names}::text[])` })
  return [
    [
      'recipientIdentity',
      readPages(deps.db, accountId, {
        ...identities,
        where: sql`(identity = any(${names}::text[]) or person = any(${names}::text[]))`,
      }),
    ],
    ['suppression', read(suppressions, 'number_key')],
    ['oneTimeCode', read(oneTimeCodes, 'to_number')],
    ['message', read(messages, 'to_number')],
    ['messageContent', readContentsOf(deps, accountId, names)],
    ['event', readEventsOf(deps, accountId, names)],
  ]
}

interface CodeRow {
  to: string
  purpose: string
  attemptsLeft: number
  createdAt: Date
  expiresAt: Date
  messageId: string | null
}

const oneTimeCodes: PageQuery<CodeRow> = {
  table: 'one_time_codes',
  fields: `to_number as "to", purpose, attempts_left as "attemptsLeft", created_at as "createdAt",
    expires_at as "expiresAt", message_id as "messageId"`,
  key: ['id'],
  /** Without the hash of the code. */
  toRecord: (code) => ({
    to: code.to,
    purpose: code.purpose,
    attemptsLeft: code.attemptsLeft,
    createdAt: code.createdAt.toISOString(),
    expiresAt: code.expiresAt.toISOString(),
    ...(code.messageId !== null && { messageId: code.messageId }),
  }),
}

interface ContentRow {
  messageId: string
  ciphertext: string
}

async function* readContentsOf({ db, now, secrets }: ExportDeps, accountId: string, names: readonly string[]): Pages {
  const from = await findFirstShown(db, accountId, now())
  if (from === undefined) return
  yield* readPages<ContentRow>(db, accountId, {
    table: 'message_contents',
    fields: 'message_id as "messageId", content_encrypted as ciphertext',
    where: sql`message_id >= ${from} and exists (
      select from messages m where m.account_id = message_contents.account_id and m.id = message_contents.message_id
        and m.to_number = any(${names}::text[]))`,
    key: ['message_id'],
    toRecord: ({ messageId, ciphertext }) => ({
      messageId,
      ...(openContent(secrets, { accountId, messageId }, ciphertext) ?? { unreadable: true }),
    }),
  })
}

/**
 * Events that mention the person only in the words of somebody else are of that person. Few of an account's events match,
 * so a page of matches could take a long statement.
 */
async function* readEventsOf({ db }: ExportDeps, accountId: string, names: readonly string[]): Pages {
  const { pattern } = matchNames(names)
  const ofAccount: Range = sql`account_id = ${accountId}`
  for await (const range of listKeyRanges(db, { name: events.table, key: events.key }, ofAccount)) {
    const pages = readPages(db, accountId, { ...events, where: sql`${range} and payload ~ ${pattern}` })
    for await (const page of pages) yield page.filter((record) => isAbout(record, new Set(names)))
  }
}

/** Fields of events with the name of a person: whom a message is for, who replied, and who opted out. */
const nameFields = new Set(['to', 'recipient', 'waId', 'userId', 'from'])

function isAbout(value: unknown, names: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, item]: [string, unknown]) =>
    typeof item === 'string' ? nameFields.has(name) && names.has(item) : isAbout(item, names),
  )
}
