import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { webhooks } from '../../contracts/events.ts'
import { changeCallback } from './callbacks.ts'
import { exampleSend } from './example-send.ts'
import type { TestAccount, TestServer } from './server.ts'

/** Seconds since 1970, before the clock of the database. */
export const replyTime = 1_790_000_000

interface ReplyOptions {
  id?: string
  from?: string
  at?: number
}

/** A message of a user as Meta reports it; `content` has its type and the fields of that type. */
export function userMessage(
  content: object,
  repliesTo: string | undefined,
  { id = newWamid(), from = exampleSend.to, at = replyTime }: ReplyOptions = {},
): object {
  return {
    ...(repliesTo !== undefined && { context: { from: '15550783881', id: repliesTo } }),
    from,
    id,
    timestamp: String(at),
    ...content,
  }
}

export const tap = (text: string, payload: string = text) => ({ type: 'button', button: { text, payload } })
export const text = (body: string) => ({ type: 'text', text: { body } })

export function repliesCallback(phoneNumberId: string, messages: object[]): object {
  return changeCallback('1', 'messages', {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ada' }, wa_id: exampleSend.to }],
    messages,
  })
}

export function preferencesCallback(
  phoneNumberId: string,
  preferences: { wa_id: string; value: string; timestamp: number }[],
): object {
  return changeCallback('1', 'user_preferences', {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ada' }, wa_id: exampleSend.to }],
    user_preferences: preferences.map((preference) => ({
      detail: 'User requested to change marketing messages',
      category: 'marketing_messages',
      ...preference,
    })),
  })
}

export function newWamid(): string {
  return `wamid.${randomBytes(24).toString('base64')}`
}

/** The events of an account in the order of their IDs, each checked against its contract. */
export async function listRecorded(
  server: TestServer,
  { accountId }: TestAccount,
): Promise<{ type: string; data: Record<string, unknown>; deliveries: number }[]> {
  const { rows } = await sql<{ type: keyof typeof webhooks; payload: string; deliveries: number }>`
    select type, payload,
      (select count(*)::integer from webhook_deliveries d where d.event_id = e.id) as deliveries
    from events e where account_id = ${accountId} and type in ('message.replied', 'recipient.opted_out', 'recipient.opted_in')
    order by id`.execute(server.deps.db)
  return rows.map(({ type, payload, deliveries }) => {
    const event = JSON.parse(payload)
    webhooks[type].event.parse(event)
    return { type, data: event.data, deliveries }
  })
}
