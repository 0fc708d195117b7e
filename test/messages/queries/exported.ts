import { sql } from 'kysely'
import type { Message } from '../../../contracts/api/message.ts'
import type { TestAccount, TestServer } from '../../support/server.ts'

export const exportPath = '/api/v1/message/export'

/** Inserts messages with IDs in ascending order. Every third one has failed. */
export async function insertMessages(
  server: TestServer,
  { accountId, whatsAppAccountId }: TestAccount,
  count: number,
  { errorBytes = 20 }: { errorBytes?: number } = {},
): Promise<void> {
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, to_number, template_name, template_language, external_id,
      created_at, status, failed_at, error_code, error_message)
    select ${accountId}, 'msg_01kah3b9mz' || lpad(n::text, 16, '0'), ${whatsAppAccountId},
      (34600000000 + n % 7)::text, 'order_' || n % 2, 'en', 'order-' || n, '2026-11-20T09:30:00Z'::timestamptz + n * interval '1 second',
      case when n % 3 = 0 then 'failed' else 'pending' end, case when n % 3 = 0 then now() end,
      case when n % 3 = 0 then '131026' end, case when n % 3 = 0 then repeat('x', ${errorBytes}::integer) end
    from generate_series(1, ${count}::integer) n`.execute(server.deps.db)
}

/** All pages of the list. */
export async function listAll(customer: Pick<TestAccount, 'get'>, query = ''): Promise<Message[]> {
  const items: Message[] = []
  let cursor = ''
  do {
    const response = await customer.get(`/api/v1/message?limit=70${query}${cursor && `&cursor=${cursor}`}`)
    const page = response.json().data as unknown as { items: Message[]; nextCursor?: string }
    items.push(...page.items)
    cursor = page.nextCursor ?? ''
  } while (cursor !== '')
  return items
}

export function readLines(text: string): Message[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Message)
}
