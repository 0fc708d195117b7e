import { beforeEach, expect, test } from 'vitest'
import { getMessage, post, receive as receiveAt, sendOne } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { listRecorded, newWamid, replyTime } from '../../support/replies.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

/** Callbacks in the shapes of 2026, with user IDs, and without what WhatsApp can leave out. */

const server = await forFile(startTestServer())
let account: TestAccount
let sent: { messageId: string; waMessageId: string }
beforeEach(async () => {
  account = await server.account()
  sent = await sendOne(account)
})

const userId = 'US.13491208655302741918'
const parentUserId = 'US.ENT.11815799212886844830'
const waId = '972587654321'
const profile = { name: 'Ada', username: 'ada' }
const contact = { profile, wa_id: waId, user_id: userId, parent_user_id: parentUserId }
const at = String(replyTime)

interface Shape {
  field?: string
  value: Record<string, unknown>
}

const receive = ({ field = 'messages', value }: Shape) => receiveAt(server, account, field, value)

const stops = async () => (await account.trpc.suppression.list.query({})).items

interface Item {
  field: string
  list: string
  item: Record<string, unknown>
  required: string[]
}

/** An item of each kind with all that WhatsApp can add to it. */
const items: Record<string, () => Item> = {
  status: () => ({
    field: 'messages',
    list: 'statuses',
    item: {
      id: sent.waMessageId,
      status: 'delivered',
      timestamp: at,
      recipient_id: waId,
      recipient_user_id: userId,
      recipient_parent_user_id: parentUserId,
      biz_opaque_callback_data: sent.messageId,
      conversation: { id: '1', origin: { type: 'marketing_lite' } },
      pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
    },
    required: ['id', 'status'],
  }),
  'failed status': () => ({
    field: 'messages',
    list: 'statuses',
    item: {
      id: sent.waMessageId,
      status: 'failed',
      timestamp: at,
      recipient_id: waId,
      errors: [{ code: 131026, title: 'Undeliverable', message: 'Undeliverable', error_data: { details: 'No' } }],
    },
    required: ['id', 'status'],
  }),
  text: () => reply({ type: 'text', text: { body: 'Hello' } }),
  button: () => reply({ type: 'button', button: { text: 'Yes', payload: 'yes' } }),
  system: () => ({
    field: 'messages',
    list: 'messages',
    item: {
      from: waId,
      id: newWamid(),
      timestamp: at,
      type: 'system',
      system: { type: 'user_changed_number', body: 'Changed', wa_id: '972587654322', user_id: 'US.2' },
    },
    required: ['id', 'type'],
  }),
  preference: () => ({
    field: 'user_preferences',
    list: 'user_preferences',
    item: {
      wa_id: waId,
      user_id: userId,
      parent_user_id: parentUserId,
      detail: 'User requested to stop marketing messages',
      category: 'marketing_messages',
      value: 'stop',
      timestamp: replyTime,
    },
    required: ['category', 'value'],
  }),
}

function reply(content: object): Item {
  const sender = { from: waId, from_user_id: userId, from_parent_user_id: parentUserId }
  const context = { from: '15550783881', id: sent.waMessageId }
  const item = { ...sender, id: newWamid(), timestamp: at, context, ...content }
  return { field: 'messages', list: 'messages', item, required: ['id', 'type'] }
}

test.each(Object.entries(items))(
  'accepts a %s without each optional key, and without all of them',
  async (kind, make) => {
    const { item, required } = make()
    const optional = Object.keys(item).filter((key) => !required.includes(key))
    const variants = [...optional.map((key) => [key]), optional, Object.keys(item)]

    for (const left of variants)
      for (const contacts of [{ contacts: [contact] }, {}]) {
        const { field, list, item: whole } = make()
        const kept = Object.fromEntries(Object.entries(whole).filter(([key]) => !left.includes(key)))
        await receive({ field, value: { ...contacts, [list]: [kept] } })
      }

    const { status } = await getMessage(account, sent.messageId)
    expect(status).toBe(kind === 'status' ? 'delivered' : kind === 'failed status' ? 'failed' : 'sent')
  },
)

test.each(['entry', 'id', 'changes', 'field', 'value', 'metadata', 'phone_number_id'])(
  'accepts a callback without %s',
  async (key) => {
    const status = { id: sent.waMessageId, status: 'delivered', timestamp: at }
    const whole = JSON.stringify({
      entry: [
        {
          id: account.wabaId,
          changes: [
            { field: 'messages', value: { metadata: { phone_number_id: account.phoneNumberId }, statuses: [status] } },
          ],
        },
      ],
    })
    const without: unknown = JSON.parse(whole, (name, value: unknown) =>
      name === key && value !== sent.waMessageId ? undefined : value,
    )

    expect((await post(server, without)).statusCode).toBe(200)
  },
)

test('applies a status that names its recipient by user ID only, as other clients expect it', async () => {
  const status = {
    status: 'delivered',
    timestamp: at,
    recipient_user_id: userId,
    recipient_parent_user_id: parentUserId,
  }
  const contacts = [{ profile, user_id: userId, parent_user_id: parentUserId }]
  await receive({ value: { contacts, statuses: [{ id: sent.waMessageId, ...status }] } })

  expect(await getMessage(account, sent.messageId)).toMatchObject({ status: 'delivered', userId })
})

test('takes the names of a status that has none from the contacts of its callback', async () => {
  const status = { id: sent.waMessageId, status: 'read', timestamp: at, recipient_id: waId }
  await receive({ value: { contacts: [contact], statuses: [status] } })

  expect(await getMessage(account, sent.messageId)).toMatchObject({ status: 'read', userId })
})

const ofUser = (message: object): Shape => ({
  value: { contacts: [contact], messages: [{ from: waId, id: newWamid(), timestamp: at, ...message }] },
})

/** Shapes in which clients of others are tested (pywa 4.4): facts about WhatsApp, with our IDs. */
const unused: Record<string, () => Shape> = {
  'a status of a voice message': () => ({
    value: {
      contacts: [contact],
      statuses: [{ id: sent.waMessageId, status: 'played', timestamp: at, recipient_id: waId }],
    },
  }),
  'a status of a group': () => ({
    value: {
      contacts: [contact],
      statuses: [
        {
          id: newWamid(),
          status: 'read',
          timestamp: at,
          recipient_id: 'fowefinoewcnw',
          recipient_type: 'group',
          recipient_participant_id: waId,
          recipient_participant_user_id: userId,
        },
      ],
    },
  }),
  'a changed identity key': () =>
    ofUser({
      identity: { acknowledged: true, created_timestamp: at, hash: 'xyz' },
      system: { body: 'User identity changed', type: 'customer_identity_changed' },
      type: 'system',
    }),
  'an edited message': () => ofUser({ type: 'edit', edit: { original_message_id: sent.waMessageId } }),
  'a revoked message': () => ofUser({ type: 'revoke', revoke: { original_message_id: sent.waMessageId } }),
  'an interactive message that WhatsApp cannot pass on': () => ({
    value: {
      ...ofUser({ type: 'interactive', context: { id: sent.waMessageId } }).value,
      errors: [{ code: 131000, title: 'Something went wrong', error_data: { details: 'Unsupported webhook payload' } }],
    },
  }),
  'a quick reply without its message': () => ofUser({ from_user_id: userId, type: 'button', button: { text: 'Yes' } }),
  'a sign-up for marketing messages': () => ({
    field: 'user_preferences',
    value: {
      contacts: [contact],
      user_preferences: [
        { wa_id: waId, category: 'marketing_messages', value: 'signup', signup_id: '1', timestamp: replyTime },
      ],
    },
  }),
}

test.each(Object.keys(unused))('accepts %s, and changes nothing', async (shape) => {
  const built = unused[shape]?.()
  if (built) await receive(built)

  expect(await getMessage(account, sent.messageId)).toMatchObject({ status: 'sent' })
  expect(await stops()).toEqual([])
})

test('applies a quick reply that opts out, although WhatsApp left out its message', async () => {
  const message = { from_user_id: userId, id: newWamid(), timestamp: at, type: 'button' }
  await receive({ value: { contacts: [contact], messages: [{ ...message, button: { text: 'STOP', payload: 'x' } }] } })

  expect(await stops()).toMatchObject([{ to: waId, userId, reason: 'reply' }])
})

/** Seconds since 1970 are documented, as text for messages and as a number for preferences. */
const badTimes: Record<string, unknown> = {
  absent: undefined,
  null: null,
  empty: '',
  zero: '0',
  negative: -1,
  'a word': 'yesterday',
  'an object': {},
  'in the year 2286': '9999999999',
  'in the year 9999': 253_402_300_799,
}

test.each(Object.keys(badTimes))('applies what has a time that is %s, as of its arrival', async (time) => {
  const timestamp = badTimes[time]
  const before = Date.now()
  await receive({ value: { statuses: [{ id: sent.waMessageId, status: 'delivered', timestamp }] } })
  const preference = { wa_id: waId, category: 'marketing_messages', value: 'stop', timestamp }
  await receive({ field: 'user_preferences', value: { user_preferences: [preference] } })
  const context = { id: sent.waMessageId }
  const answer = { from: waId, id: newWamid(), timestamp, context, type: 'text', text: { body: 'Hi' } }
  await receive({ value: { messages: [answer] } })

  const message = await getMessage(account, sent.messageId)
  expect(message).toMatchObject({ status: 'delivered' })
  const times = [message['deliveredAt'], (await stops())[0]?.since].map((text) => Date.parse(String(text)))
  for (const at of times) {
    expect(at).toBeGreaterThanOrEqual(before)
    expect(at).toBeLessThanOrEqual(Date.now())
  }
  expect((await listRecorded(server, account)).map(({ type }) => type)).toEqual([
    'recipient.opted_out',
    'message.replied',
  ])
})

test('reads a time in milliseconds', async () => {
  const status = { id: sent.waMessageId, status: 'delivered', timestamp: replyTime * 1000 + 7 }
  await receive({ value: { statuses: [status] } })

  const deliveredAt = new Date(replyTime * 1000 + 7).toISOString()
  expect(await getMessage(account, sent.messageId)).toMatchObject({ status: 'delivered', deliveredAt })
})
