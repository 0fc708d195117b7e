import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/message.ts'
import { startTestServer, type TestAccount, type TestServer } from '../support/server.ts'

const path = '/api/v1/message/send'
const example = sendMessage.example.input

let server: TestServer
let account: TestAccount
beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
})
afterAll(() => server.close())

test('a send answers with the message, and WhatsApp has it', async () => {
  const response = await account.post(path, example)

  expect(response.statusCode).toBe(200)
  expect(response.json()).toEqual({
    success: true,
    data: {
      messageId: expect.stringMatching(/^msg_/),
      waMessageId: expect.stringMatching(/^wamid\./),
      status: 'sent',
      to: example.to,
      template: example.template,
      externalId: example.externalId,
    },
  })
})
