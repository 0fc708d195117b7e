import { beforeEach, expect, test } from 'vitest'
import { getMessage, receive as receiveAt, report, sendOne, status } from '../../support/callbacks.ts'
import { newWamid, replyTime, text } from '../../support/replies.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

/** Reports about the names of people that contradict earlier ones, in either order of arrival. */

const sale = { name: 'summer_sale', category: 'MARKETING', components: [{ type: 'BODY', text: 'It is summer.' }] }

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
  await account.template(sale)
})

const receive = (field: string, value: object) => receiveAt(server, account, field, value)

type Report = (at: number) => Promise<void>

/** The ways in which WhatsApp reports that a number and a user ID belong together. */
const ways = {
  status: (to: string, userId: string) => async (at: number) => {
    const { waMessageId } = await sendOne(account, { to })
    await report(server, account, [
      status('delivered', waMessageId, { recipient: { recipient_id: to, recipient_user_id: userId }, at }),
    ])
  },
  reply: (from: string, userId: string) => async (at: number) => {
    const { waMessageId: id } = await sendOne(account, { to: from })
    const message = { from, from_user_id: userId, context: { id }, id: newWamid(), timestamp: String(at) }
    await receive('messages', { messages: [{ ...message, ...text('Hello') }] })
  },
  contacts: (wa_id: string, user_id: string) => (at: number) =>
    receive('user_preferences', {
      contacts: [{ wa_id, user_id }],
      user_preferences: [{ wa_id, category: 'marketing_messages', value: 'resume', timestamp: at }],
    }),
  'shared number': (wa_id: string, from_user_id: string) => (at: number) => {
    const contacts = [{ origin: 'contact_request', phones: [{ phone: `+${wa_id}`, wa_id, type: 'CELL' }] }]
    const message = { from_user_id, id: newWamid(), timestamp: String(at), type: 'contacts', contacts }
    return receive('messages', { messages: [message] })
  },
} satisfies Record<string, (to: string, userId: string) => Report>

const change =
  (from: object, system: { type: string; wa_id?: string; user_id?: string; previous_user_id?: string }): Report =>
  (at) =>
    receive('messages', { messages: [{ ...from, id: newWamid(), timestamp: String(at), type: 'system', system }] })

const changedNumber = (from: string, system: { wa_id: string; user_id?: string; previous_user_id?: string }) =>
  change({ from }, { type: 'user_changed_number', ...system })

const changedUserId = (previous_user_id: string, user_id: string) =>
  change({}, { type: 'user_changed_user_id', user_id, previous_user_id })

const orders = {
  'in order': async (earlier: Report, later: Report) => {
    await earlier(replyTime)
    await later(replyTime + 60)
  },
  reversed: async (earlier: Report, later: Report) => {
    await later(replyTime + 60)
    await earlier(replyTime)
  },
}
type Order = keyof typeof orders

const stop = (names: object) =>
  receive('user_preferences', {
    contacts: [names],
    user_preferences: [{ ...names, category: 'marketing_messages', value: 'stop', timestamp: replyTime + 120 }],
  })

/** Of these numbers and user IDs, those that get no marketing. */
async function listSuppressed(names: readonly string[]): Promise<string[]> {
  const suppressed: string[] = []
  for (const name of names) {
    const recipient = name.includes('.') ? { recipient: name } : { to: name }
    const { statusCode } = await account.post('/api/v1/message/send', {
      ...recipient,
      template: sale.name,
      language: 'en',
    })
    expect([200, 422]).toContain(statusCode)
    if (statusCode === 422) suppressed.push(name)
  }
  return suppressed
}

const [first, second, third] = ['34600333001', '34600333002', '34600333003'] as const
const cases = (Object.keys(ways) as (keyof typeof ways)[]).flatMap((way) =>
  (Object.keys(orders) as Order[]).map((order) => ({ way, order })),
)

test.each(cases)('applies a stop to the number that a user ID has now, learned by $way, $order', async (how) => {
  const pair = ways[how.way]
  await orders[how.order](pair(first, 'ES.1'), pair(second, 'ES.1'))

  await stop({ user_id: 'ES.1' })

  expect(await listSuppressed([first, second, 'ES.1'])).toEqual([second, 'ES.1'])
})

test.each(cases)('applies a stop to the user ID that a number has now, learned by $way, $order', async (how) => {
  const pair = ways[how.way]
  await orders[how.order](pair(first, 'ES.1'), pair(first, 'ES.2'))

  await stop({ wa_id: first })

  expect(await listSuppressed([first, 'ES.1', 'ES.2'])).toEqual([first, 'ES.2'])
})

test.each(cases)('keeps an opt-out that was known before a number got another user ID by $way, $order', async (how) => {
  const pair = ways[how.way]
  await stop({ user_id: 'ES.1' })
  await orders[how.order](pair(first, 'ES.1'), pair(first, 'ES.2'))

  expect(await listSuppressed(['ES.1', first])).toEqual(['ES.1', first])
})

test.each(Object.keys(orders) as Order[])(
  'moves a person to a new number although an old pair names another one, %s',
  async (order) => {
    await ways.status(first, 'ES.1')(replyTime - 60)
    await orders[order](
      ways.status(second, 'ES.1'),
      changedNumber(first, { wa_id: third, user_id: 'ES.3', previous_user_id: 'ES.1' }),
    )

    await stop({ user_id: 'ES.3' })

    expect(await listSuppressed([first, second, third, 'ES.3'])).toEqual([third, 'ES.3'])
  },
)

test.each(Object.keys(orders) as Order[])(
  'keeps a pair that was reported after a change of the number, %s',
  async (order) => {
    await ways.status(first, 'ES.1')(replyTime - 60)
    await orders[order](
      changedNumber(first, { wa_id: second, user_id: 'ES.2', previous_user_id: 'ES.1' }),
      ways.status(third, 'ES.1'),
    )

    await stop({ user_id: 'ES.1' })

    expect(await listSuppressed([first, second, third, 'ES.1', 'ES.2'])).toEqual([third, 'ES.1'])
  },
)

test.each(Object.keys(orders) as Order[])(
  'keeps a pair that was reported after a change of the user ID, %s',
  async (order) => {
    await ways.status(first, 'ES.1')(replyTime - 60)
    await orders[order](changedUserId('ES.1', 'ES.2'), ways.status(second, 'ES.2'))

    await stop({ user_id: 'ES.2' })

    expect(await listSuppressed([second, 'ES.2'])).toEqual([second, 'ES.2'])
  },
)

test('reports the rejection of a user ID of another business portfolio, and learns nothing from it', async () => {
  const recipient = 'ES.2041776399999999'
  const response = await account.post('/api/v1/message/send', {
    recipient,
    template: 'order_shipped',
    language: 'en',
    variables: { 1: 'Ada', 2: 'A-1' },
  })

  expect(response.statusCode).toBe(422)
  expect(response.json().error).toMatchObject({ code: 'MESSAGE_REJECTED', message: expect.stringContaining('131026') })
  const [message] = (await account.trpc.message.list.query({ recipient })).items
  expect(message).toMatchObject({ status: 'failed', to: recipient, recipient })
  expect(await getMessage(account, message?.messageId ?? '')).not.toHaveProperty('waMessageId')
  expect((await account.trpc.suppression.list.query({})).items).toEqual([])
})
