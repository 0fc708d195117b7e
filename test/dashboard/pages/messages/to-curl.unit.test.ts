import { expect, test } from 'vitest'
import { type Message, SendMessageRequest } from '../../../../contracts/api/message.ts'

/** Loads a module by a name that `tsc` does not follow, since the dashboard is typed for browsers. */
async function loadToCurl() {
  const name = '../../../../src/dashboard/pages/messages/message/to-curl.ts'
  return ((await import(name)) as { toCurl: (message: Message, of: object, origin: string) => string }).toCurl
}

const sent: Omit<Message, 'to'> = {
  messageId: 'msg_1',
  accountId: 'wa_1',
  template: 'order_ready',
  language: 'en',
  externalId: "Ada's order",
  status: 'sent',
  createdAt: '2026-11-27T10:00:00.000Z',
}

test.each([
  { to: '34600111222', names: { to: '34600111222' } },
  { to: 'ES.1234567890123', names: { recipient: 'ES.1234567890123' } },
])('writes a request that the API accepts for $to', async ({ to, names }) => {
  const toCurl = await loadToCurl()
  const command = toCurl({ ...sent, to }, { template: undefined, values: undefined }, 'http://127.0.0.1:3000')

  const [, quoted = ''] = /-d '(.*)'$/s.exec(command) ?? []
  const body: unknown = JSON.parse(quoted.replaceAll(String.raw`'\''`, "'"))
  expect(SendMessageRequest.safeParse(body).error).toBeUndefined()
  expect(body).toMatchObject({ ...names, template: 'order_ready', externalId: "Ada's order" })
})
