import { test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { forFile } from '../../support/lifetime.ts'
import { listRecordedEvents } from '../../support/events.ts'
import { startTestServer } from '../../support/server.ts'

/** End to end: sent through the server, reported by the simulator like Meta, and emitted as events. */

const server = await forFile(startTestServer())
const account = await server.account()
server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })

interface Found {
  messageId: string
  status: string
}

async function find(externalId: string): Promise<Found | undefined> {
  const response = await account.get(`/api/v1/message?externalId=${externalId}`)
  return (response.json().data['items'] as Found[])[0]
}

async function listEvents(messageId: string): Promise<string[]> {
  const events = await listRecordedEvents(server.deps, account, messageId)
  return events.map(({ type }) => type.replace('message.', ''))
}

// The simulated recipients respond slowly, so the tests run concurrently.
test.concurrent.for([
  { to: '34600111222', what: 'a message to an ordinary recipient', ends: 'read', events: ['delivered', 'read'] },
  { to: '15558000001', what: 'a message that is never read', ends: 'delivered', events: ['delivered'] },
  { to: '15558000002', what: 'a message that is read immediately', ends: 'read', events: ['delivered', 'read'] },
  { to: '15558000003', what: 'a message that cannot be delivered', ends: 'failed', events: ['failed'] },
  {
    to: '15558000005',
    what: 'a message whose statuses arrive in the wrong order',
    ends: 'read',
    events: ['delivered', 'read'],
  },
  {
    to: '15558000006',
    what: 'a message whose statuses arrive three times',
    ends: 'read',
    events: ['delivered', 'read'],
  },
  {
    to: '15558000007',
    what: 'a message that fails on one device only',
    ends: 'delivered',
    events: ['delivered'],
    canBeOvertaken: 'failed',
  },
  {
    to: '15559000004',
    what: 'a message whose response was lost',
    ends: 'read',
    events: ['delivered', 'read'],
    canBeOvertaken: 'sent',
  },
])('$what ends as $ends', async ({ to, ends, events, canBeOvertaken }, { expect }) => {
  const externalId = `to-${to}`
  await account.post('/api/v1/message/send', { ...sendMessage.example.input, to, externalId })

  await expect.poll(async () => (await find(externalId))?.status).toBe(ends)
  const message = await find(externalId)
  // The callback with this status can be handled after the next one, and then emits no event.
  const listOthers = async () => (await listEvents(message?.messageId ?? '')).filter((type) => type !== canBeOvertaken)
  await expect.poll(listOthers).toEqual(events)
})

const survey = {
  name: 'size_survey',
  components: [
    { type: 'BODY', text: 'Which size is yours?' },
    { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Answer', flow_id: '1', flow_action: 'navigate' }] },
  ],
}
const feedback = {
  template: 'delivery_feedback',
  variables: { '1': 'Ada' },
  buttons: [{ index: 0, payload: 'order-9:yes' }],
}

interface ReplyEvent {
  type: string
  data: { reply?: { text: string }; accountId?: string }
}

/** Consecutive callbacks can be recorded in either order. */
function inFixedOrder(events: readonly ReplyEvent[]): ReplyEvent[] {
  const keyOf = ({ type, data }: ReplyEvent) => `${type} ${data.reply?.text ?? ''}`
  return events.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)))
}

async function listReplyEvents(to: string): Promise<(ReplyEvent & { data: { to: string } })[]> {
  const rows = await server.deps.db
    .selectFrom('events')
    .select('payload')
    .where('account_id', '=', account.accountId)
    .where('type', 'in', ['message.replied', 'recipient.opted_out', 'recipient.opted_in'])
    .orderBy('id')
    .execute()
  return rows.map(({ payload }) => JSON.parse(payload)).filter(({ data }) => data.to === to)
}

test.concurrent.for([
  {
    to: '15557000001',
    what: 'taps the first button',
    message: feedback,
    replies: [{ kind: 'button', text: 'Yes', payload: 'order-9:yes' }],
  },
  {
    to: '15557000002',
    what: 'taps the last button',
    message: feedback,
    replies: [{ kind: 'button', text: 'No', payload: 'No' }],
  },
  { to: '15557000003', what: 'replies with a text', message: {}, replies: [{ kind: 'text', text: 'Thank you' }] },
  {
    to: '15557000004',
    what: 'completes the flow',
    message: { template: 'size_survey', variables: undefined, buttons: [{ index: 0, flow: { token: 'flow-9' } }] },
    replies: [{ kind: 'flow', text: 'Sent', payload: '{"flow_token":"flow-9","answer":"Yes"}' }],
  },
  { to: '15557000005', what: 'replies, reported three times', message: {}, replies: [{ text: 'Thank you' }] },
  { to: '15557000007', what: 'replies STOP', message: {}, replies: [{ text: 'STOP' }], choices: ['opted_out'] },
  {
    to: '15557000008',
    what: 'replies STOP and START',
    message: {},
    replies: [{ text: 'STOP' }, { text: 'START' }],
    choices: ['opted_out', 'opted_in'],
  },
  { to: '15557000009', what: 'stops marketing messages', message: {}, replies: [], choices: ['opted_out'] },
  { to: '15557000010', what: 'stops and resumes', message: {}, replies: [], choices: ['opted_out', 'opted_in'] },
])('reports that a recipient $what', async ({ to, message, replies, choices = [] }, { expect }) => {
  if ('template' in message && message.template === 'size_survey') await account.template(survey)
  const sent = await account.post('/api/v1/message/send', { ...sendMessage.example.input, to, ...message })
  expect(sent.statusCode).toBe(200)

  const expected = [
    ...replies.map((reply) => ({ type: 'message.replied', data: { reply: { from: to, ...reply } } })),
    ...choices.map((choice) => ({ type: `recipient.${choice}`, data: { accountId: account.whatsAppAccountId } })),
  ]
  await expect.poll(() => listReplyEvents(to)).toHaveLength(expected.length)
  expect(inFixedOrder(await listReplyEvents(to))).toMatchObject(inFixedOrder(expected))
  const isListed = (await account.get(`/api/v1/suppression?to=${to}`)).json().data['items'] as object[]
  expect(isListed).toHaveLength(choices.at(-1) === 'opted_out' ? 1 : 0)
})
