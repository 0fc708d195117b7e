import { expect, test } from 'vitest'
import { getMessage, post, receive, report, sendOne, status } from '../../support/callbacks.ts'
import { newWamid, preferencesCallback, replyTime, text } from '../../support/replies.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

/** Sends to numbers and to user IDs. */

const sale = { name: 'summer_sale', category: 'MARKETING', components: [{ type: 'BODY', text: 'It is summer.' }] }
const code = {
  name: 'sign_in_code',
  category: 'AUTHENTICATION',
  components: [
    { type: 'BODY', text: '*{{1}}* is your verification code.' },
    {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: 'Copy code', url: 'https://www.whatsapp.com/otp/code/?code={{1}}' }],
    },
  ],
}
const userId = 'ES.2041776300912345'
const path = '/api/v1/message/send'

const server = await forFile(startTestServer())
const account = await server.account()
await account.template(sale)
await account.template(code)

const send = (request: object, from = account) => from.post(path, { template: sale.name, language: 'en', ...request })

/** What WhatsApp has been asked to send. */
const upstreamSends = () =>
  server.simulator.requests.filter(({ method, path: sentTo }) => method === 'POST' && sentTo.endsWith('messages'))

/** The request is rejected, and WhatsApp is not called. */
async function expectRejected(request: object, message: RegExp | string): Promise<string> {
  const before = upstreamSends().length
  for (const of of [path, '/api/v1/message/preview']) {
    const response = await account.post(of, { template: sale.name, language: 'en', ...request })
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(message) })
  }
  expect(upstreamSends()).toHaveLength(before)
  return (await send(request)).json().error.message
}

test('sends to a user ID', async () => {
  const response = await send({ recipient: userId })

  expect(response.statusCode).toBe(200)
  const addressed = { to: userId, recipient: userId, userId }
  const { messageId } = response.json().data as { messageId: string }
  expect(response.json().data).toMatchObject({ status: 'sent', ...addressed })
  const upstream = upstreamSends().at(-1)?.body
  expect(upstream).toMatchObject({ recipient: userId, recipient_type: 'individual' })
  expect(upstream).not.toHaveProperty('to')
  expect(await getMessage(account, messageId)).toMatchObject(addressed)
  expect((await account.trpc.message.list.query({ recipient: userId })).items).toMatchObject([{ messageId }])
})

test('sends to the number if a request has both', async () => {
  const response = await send({ to: '34600111222', recipient: userId })

  expect(response.statusCode).toBe(200)
  expect(response.json().data).toMatchObject({ to: '34600111222' })
  expect(response.json().data).not.toHaveProperty('recipient')
  const upstream = upstreamSends().at(-1)?.body
  expect(upstream).toMatchObject({ to: '+34600111222' })
  expect(upstream).not.toHaveProperty('recipient')
})

test('requires one of both', async () => {
  await expectRejected(
    {},
    /^to: is required; for someone who hides the number, set recipient to the user ID instead\.$/,
  )
})

test.each([
  { request: { to: '+34600111222', recipient: 'anna' }, fields: ['to', 'recipient'] },
  { request: { recipient: 'es.2041776300912345' }, fields: ['recipient'] },
  { request: { to: '34600111222', recipient: `ES.${'1'.repeat(129)}` }, fields: ['recipient'] },
])('reports the invalid fields $fields', async ({ request, fields }) => {
  const { error } = (await send(request)).json()
  expect(error.code).toBe('VALIDATION_ERROR')
  expect(['to', 'recipient'].filter((field) => error.message.includes(`${field}: must be`))).toEqual(fields)
  await expectRejected(request, /must be/)
})

test.each([userId, 'ES.ENT.11815799212886844830'])(
  'rejects the user ID %s in to, and names the right field',
  async (to) => {
    await expectRejected({ to }, /^to: must be .* A user ID belongs in the field recipient\.$/)
  },
)

test('rejects an AUTHENTICATION template for a user ID, which WhatsApp would not send', async () => {
  const request = { template: code.name, code: '123456' }
  await expectRejected({ ...request, recipient: userId }, /^recipient: sign_in_code is an AUTHENTICATION template/)

  expect((await send({ ...request, to: '34600111222' })).statusCode).toBe(200)
})

test.each([
  {
    to: '600111222',
    says: /^to: start with the country code, .*: the number has 9 digits, .* country code 60 have 10 to 12$/,
  },
  { to: '21512345', says: /^to: start with the country code, .* does not start with the code of any country$/ },
  {
    to: '2125551234',
    says: /^to: start with the country code, such as 1 for .* has 10 digits, .* country code 212 have 12$/,
  },
])('rejects $to, which cannot be complete', async ({ to, says }) => {
  expect(await expectRejected({ to }, says)).not.toContain(to)
})

/** Too short for their country code. WhatsApp can know better. */
const unusual = { preference: '600111221', status: '600111222', reply: '600111223' }

test.each([
  {
    what: 'a preference',
    to: unusual.preference,
    tell: (wa_id: string) =>
      post(server, preferencesCallback(account.phoneNumberId, [{ wa_id, value: 'resume', timestamp: replyTime }])),
  },
  {
    what: 'a status',
    to: unusual.status,
    tell: async (recipient_id: string) => {
      const { waMessageId } = await sendOne(account, { to: `34${recipient_id}` })
      await report(server, account, [status('delivered', waMessageId, { recipient: { recipient_id } })])
    },
  },
  {
    what: 'a reply',
    to: unusual.reply,
    tell: async (from: string) => {
      const { waMessageId: id } = await sendOne(account, { to: '34600111444' })
      const message = { from, context: { id }, id: newWamid(), timestamp: String(replyTime), ...text('Thanks') }
      await receive(server, account, 'messages', { messages: [message] })
    },
  },
])('sends to an incomplete number that WhatsApp has reported in $what', async ({ to, tell }) => {
  await expectRejected({ to }, /start with the country code/)

  await tell(to)

  expect((await send({ to })).statusCode).toBe(200)
})

let people = 0
function newPerson(): { number: string; userId: string } {
  people += 1
  return { number: `3461000000${people}`, userId: `ES.30${people}` }
}

type Person = ReturnType<typeof newPerson>
const pair = async ({ number, userId: id }: Person, from: TestAccount) => {
  const { waMessageId } = await sendOne(from, { to: number })
  await report(server, from, [
    status('delivered', waMessageId, { recipient: { recipient_id: number, recipient_user_id: id } }),
  ])
}
const stopBy = (names: object, from: TestAccount) => {
  const preference = { ...names, category: 'marketing_messages', value: 'stop', detail: '', timestamp: replyTime }
  return receive(server, from, 'user_preferences', { contacts: [names], user_preferences: [preference] })
}
const numberStops = {
  form: 'number',
  stop: (person: Person, from: TestAccount) => stopBy({ wa_id: person.number }, from),
}
const userIdStops = {
  form: 'user ID',
  stop: (person: Person, from: TestAccount) => stopBy({ user_id: person.userId }, from),
}
const numberIsListed = {
  form: 'number on the list',
  stop: ({ number: to }: Person, from: TestAccount) => from.trpc.suppression.add.mutate({ to }),
}

test.each(
  [numberStops, userIdStops, numberIsListed].flatMap((form) => [
    { ...form, order: 'after the pair is known', steps: [pair, form.stop] },
    { ...form, order: 'before the pair is known', steps: [form.stop, pair] },
  ]),
)('a stop by $form $order covers the number and the user ID', async ({ steps }) => {
  const customer = await server.account()
  await customer.template(sale)
  const person = newPerson()

  for (const step of steps) await step(person, customer)

  for (const request of [{ to: person.number }, { recipient: person.userId }]) {
    const { statusCode, json } = await send(request, customer)
    expect([statusCode, json().error?.code]).toEqual([422, 'RECIPIENT_SUPPRESSED'])
  }
  expect((await customer.trpc.suppression.list.query({})).items).toHaveLength(1)
})
