import { sql } from 'kysely'
import type { Customer } from './customer.ts'
import { numberDigits, numberedIdStart, type NumberedMessages } from './numbered-ids.ts'
import { openForFilling } from './open-for-filling.ts'

/** Stores the messages in one statement on the server. */
export async function storeNumberedMessages(customer: Customer, count: number): Promise<NumberedMessages> {
  await using db = openForFilling(customer)
  const { accountId, whatsAppAccountId } = customer
  const sentAt = new Date()
  const idStart = numberedIdStart('msg', sentAt)
  const waMessageIdStart = 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQ'
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      external_id, wa_message_id, created_at, sent_at)
    select ${accountId}, ${idStart}::text || place, ${whatsAppAccountId}, 'sent', 34600000000 + n, 'order_shipped', 'en',
      'order-' || n, ${waMessageIdStart}::text || place, ${sentAt}::timestamptz, ${sentAt}::timestamptz
    from generate_series(0, ${count} - 1) as n
    cross join lateral lpad(n::text, ${sql.lit(numberDigits)}, '0') as place`.execute(db)
  await sql`analyze messages`.execute(db)
  return { count, idStart, waMessageIdStart }
}
