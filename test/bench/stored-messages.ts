import { type Kysely, sql } from 'kysely'
import { createPartitions } from '../../src/platform/db/partitions.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import type { Customer } from './customer.ts'
import { openForFilling } from './open-for-filling.ts'

const days = 28
const dayMilliseconds = 86_400_000
/** Accounts besides the customer, who has a tenth of all messages. */
const otherAccounts = 1_000

/**
 * Stores as many messages as a service has after four weeks, oldest to newest, in weekly partitions. The messages of
 * all accounts are interleaved and most are read. Statistics and visibility maps are updated and everything is flushed,
 * so that no maintenance disturbs a measurement.
 */
export async function storeWeeksOfMessages(customer: Customer, count: number): Promise<void> {
  await using db = openForFilling(customer)
  const since = new Date(Date.now() - days * dayMilliseconds)
  const millisecondsApart = (days * dayMilliseconds) / count
  await createPartitions(db, since)
  const half = Math.floor(count / 2)
  // Uses two connections, so that two cores fill it in half the time.
  await withoutIndexes(db, 'messages', () =>
    Promise.all([
      insertMessages(db, customer, { from: 0, until: half, millisecondsApart, since }),
      insertMessages(db, customer, { from: half, until: count, millisecondsApart, since }),
    ]),
  )
  await withoutIndexes(db, 'wa_message_ids', () => insertWaMessageIds(db))
  await sql`vacuum (analyze) messages, wa_message_ids`.execute(db)
  await sql`checkpoint`.execute(db)
}

async function insertMessages(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: Customer,
  { from, until, since, millisecondsApart }: { from: number; until: number; since: Date; millisecondsApart: number },
): Promise<void> {
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      external_id, wa_message_id, created_at, sent_at, delivered_at, read_at)
    select account_id, 'msg_' || ${sql.raw(timeOfId)} || 'e' || substr(chance, 1, 15), ${whatsAppAccountId}, status,
      '3460' || digits, 'order_shipped', 'en', 'order-' || digits,
      'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI' || substr(chance, 16), at, at,
      case when status in ('delivered', 'read') then at end, case when status = 'read' then at end
    from generate_series(${from}::integer, ${until}::integer - 1) as n
    cross join lateral (
      select ${since.getTime()} + (n * ${millisecondsApart}::float8)::bigint as milliseconds, md5(n::text) as chance,
        lpad((n * 7368787::bigint % 10000000)::text, 7, '0') as digits,
        case when n % 10 = 0 then ${accountId} else 'acc_' || lpad((n * 7919::bigint % ${otherAccounts})::text, 26, '0') end
          as account_id,
        case n % 7 when 0 then 'sent' when 1 then 'delivered' else 'read' end as status
    ) message
    cross join lateral to_timestamp(milliseconds / 1000.0) as at`.execute(db)
}

/**
 * Drops all indexes of a table except the primary key while it is filled, and recreates them afterwards, in half the
 * time.
 */
async function withoutIndexes(
  db: Kysely<Database>,
  table: keyof Database,
  fill: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = ${table}::regclass and not indisprimary`.execute(db)
  for (const { name } of rows) await sql.raw(`drop index ${name}`).execute(db)
  await fill()
  // PostgreSQL prints `only` for a partitioned table, but the partitions need the index too.
  for (const { definition } of rows) await sql.raw(definition.replace(' ON ONLY ', ' ON ')).execute(db)
}

/** Inserts the `wa_message_ids` rows that a send creates. */
async function insertWaMessageIds(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into wa_message_ids (hash, account_id, message_id)
    select hashtextextended(wa_message_id, 0), account_id, id from messages`.execute(db)
}

/** The milliseconds as ten base32 digits, as in Waybill's IDs, followed by the version and random digits. */
const timeOfId = Array.from(
  { length: 10 },
  (_, index) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', ((milliseconds >> ${45 - 5 * index}) & 31)::integer + 1, 1)`,
).join(' || ')
