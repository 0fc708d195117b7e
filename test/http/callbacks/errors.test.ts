import { expect, test } from 'vitest'
import { getMessage, numberCallback, post, sendOne, status } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())

const passOn = { code: 131000, title: 'Something went wrong', error_data: { details: 'Of +34 600 111 222' } }

async function countErrors(): Promise<string[]> {
  const { text } = await server.request('GET', '/metrics')
  return text.match(/^waybill_whatsapp_callback_errors_total.*$/gm)?.toSorted() ?? []
}

const logged = () => server.log.filter((line) => line.includes('belongs to no message'))

test('counts and logs the errors of a callback that belong to no message, and applies the rest', async () => {
  const account = await server.account()
  const { messageId, waMessageId } = await sendOne(account)
  const errors = [passOn, { code: 987654, title: 'New' }, { title: 'No code' }, 'no error', null]

  for (const value of [{ errors, statuses: [status('delivered', waMessageId)] }, { errors: [passOn] }, { errors: 7 }])
    expect((await post(server, numberCallback(account, 'messages', value))).statusCode).toBe(200)

  expect(await getMessage(account, messageId)).toMatchObject({ status: 'delivered' })
  expect(await countErrors()).toEqual([
    'waybill_whatsapp_callback_errors_total{code="131000"} 2',
    'waybill_whatsapp_callback_errors_total{code="other"} 1',
  ])
  const { whatsAppAccountId } = account
  expect(logged().map((line) => JSON.parse(line) as object)).toMatchObject([
    { whatsAppAccountId, code: 131000, title: 'Something went wrong' },
    { whatsAppAccountId, code: 987654, title: 'New' },
  ])
  expect(logged().join()).not.toMatch(/600|Of /)
})

test('logs no error about a number that the signing app does not have', async () => {
  const before = logged().length
  const unknown = { wabaId: '1', phoneNumberId: '999999999999999' }

  expect((await post(server, numberCallback(unknown, 'messages', { errors: [{ code: 131016 }] }))).statusCode).toBe(200)

  expect(await countErrors()).toContain('waybill_whatsapp_callback_errors_total{code="131016"} 1')
  expect(logged()).toHaveLength(before)
})
