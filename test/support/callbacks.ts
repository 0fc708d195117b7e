import { expect } from 'vitest'
import { signCallback } from '../../src/whatsapp/callbacks/signature.ts'
import { exampleSend } from './example-send.ts'
import type { TestAccount, TestResponse, TestServer } from './server.ts'

export const callbackPath = '/webhooks/whatsapp'
export const appSecret = 'test-app-secret'

interface StatusOptions {
  at?: number
  callbackData?: string | undefined
  errors?: object[]
  /** How WhatsApp names the recipient; by number if absent. */
  recipient?: object
}

/** A status as Meta reports it. */
export function status(
  name: string,
  waMessageId: string,
  { at = 1_800_000_000, callbackData, errors, recipient = { recipient_id: exampleSend.to } }: StatusOptions = {},
): object {
  return {
    id: waMessageId,
    status: name,
    timestamp: String(at),
    ...recipient,
    ...(callbackData !== undefined && { biz_opaque_callback_data: callbackData }),
    ...(errors && { errors }),
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  }
}

export function messagesCallback(phoneNumberId: string, statuses: object[]): object {
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
              statuses,
            },
          },
        ],
      },
    ],
  }
}

export function changeCallback(wabaId: string, field: string, value: object, time = 1_800_000_000): object {
  return { object: 'whatsapp_business_account', entry: [{ id: wabaId, time, changes: [{ field, value }] }] }
}

/** A callback about one phone number. */
export function numberCallback(
  { wabaId, phoneNumberId }: Pick<TestAccount, 'wabaId' | 'phoneNumberId'>,
  field: string,
  value: object,
): object {
  const metadata = { display_phone_number: '15550783881', phone_number_id: phoneNumberId }
  return changeCallback(wabaId, field, { messaging_product: 'whatsapp', metadata, ...value })
}

/** Meta's template IDs have more digits than a JavaScript number can hold; nothing depends on them. */
export function templateUpdate(event: string): object {
  return {
    event,
    message_template_id: 1_234_567_890_123_456,
    message_template_name: 'order_shipped',
    message_template_language: 'en',
    reason: null,
  }
}

/** Posts a signed callback, to the address of one WhatsApp account if `to` is given. */
export function post(
  server: TestServer,
  callback: unknown,
  { secret = appSecret, signature, to }: { secret?: string; signature?: string; to?: string } = {},
): Promise<TestResponse> {
  const body = Buffer.from(typeof callback === 'string' ? callback : JSON.stringify(callback))
  return server.request('POST', to === undefined ? callbackPath : `${callbackPath}/${to}`, {
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature ?? signCallback(body, secret) },
    body,
  })
}

export async function receive(server: TestServer, customer: TestAccount, field: string, value: object): Promise<void> {
  expect((await post(server, numberCallback(customer, field, value))).statusCode).toBe(200)
}

export async function report(server: TestServer, customer: TestAccount, statuses: object[]): Promise<void> {
  expect((await post(server, messagesCallback(customer.phoneNumberId, statuses))).statusCode).toBe(200)
}

export async function sendOne(
  customer: TestAccount,
  change: object = {},
): Promise<{ messageId: string; waMessageId: string }> {
  const response = await customer.post('/api/v1/message/send', { ...exampleSend, ...change })
  expect(response.statusCode).toBe(200)
  return response.json().data as { messageId: string; waMessageId: string }
}

export async function getMessage(customer: TestAccount, messageId: string): Promise<Record<string, unknown>> {
  return (await customer.get(`/api/v1/message/${messageId}`)).json().data
}
