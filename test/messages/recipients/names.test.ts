import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { exportAccount } from '../../../src/cli/account-data/export.ts'
import { deleteOldIdentities } from '../../../src/messages/recipients/store.ts'
import { failWith } from '../../../src/whatsapp/simulator/errors.ts'
import { userOfNumber } from '../../../src/whatsapp/simulator/messages/users.ts'
import { getMessage, receive as receiveAt, report, sendOne, status } from '../../support/callbacks.ts'
import { erase } from '../../support/erase.ts'
import { exampleSend } from '../../support/example-send.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { listRecorded, newWamid, replyTime, text } from '../../support/replies.ts'
import { signedInOwner } from '../../support/user.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { forFile } from '../../support/lifetime.ts'

/** The names of recipients: numbers in several spellings, and user IDs of people who hide their number. */

const sale = { name: 'summer_sale', category: 'MARKETING', components: [{ type: 'BODY', text: 'It is summer.' }] }

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
  await account.template(sale)
})

const sendSale = (to: string, from = account) =>
  from.post('/api/v1/message/send', { to, template: sale.name, language: 'en' })

async function isSuppressed(to: string, from = account): Promise<boolean> {
  const { statusCode } = await sendSale(to, from)
  expect([200, 422]).toContain(statusCode)
  return statusCode === 422
}

let users = 0
/** A person that no other test knows. */
function newPerson(): { to: string; userId: string } {
  users += 1
  return { to: `34600${String(users).padStart(5, '0')}5`, userId: `ES.20417${users}` }
}

const receive = (field: string, value: object, to = account) => receiveAt(server, to, field, value)

/** A change of the preference for marketing messages, by someone with these names. */
function prefer(value: 'stop' | 'resume', names: object, { contacts = [names], at = replyTime } = {}): Promise<void> {
  const preference = { ...names, category: 'marketing_messages', value, detail: 'changed', timestamp: at }
  return receive('user_preferences', { contacts, user_preferences: [preference] })
}

function write(body: string, names: object, { repliesTo = '', contacts = [] as object[], at = replyTime } = {}) {
  const context = repliesTo === '' ? {} : { context: { from: '15550783881', id: repliesTo } }
  const message = { ...context, ...names, id: newWamid(), timestamp: String(at), ...text(body) }
  return receive('messages', { contacts, messages: [message] })
}

/** A delivered message teaches the user ID of its recipient. */
async function teach({ to, userId }: { to: string; userId: string }, more: object = {}, from = account) {
  const sent = await sendOne(from, { to })
  const recipient = { recipient_id: to, recipient_user_id: userId, ...more }
  await report(server, from, [status('delivered', sent.waMessageId, { recipient, at: replyTime })])
  return sent
}

const listed = async () => (await account.trpc.suppression.list.query({})).items

test('shows the names that WhatsApp reports with the message and its events', async () => {
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/', events: ['message.delivered'] })
  const { messageId, waMessageId } = await sendOne(account, { to: '525512340001' })
  const recipient = { recipient_id: '5215512340001', recipient_user_id: 'MX.1' }

  await report(server, account, [status('delivered', waMessageId, { recipient })])

  const names = { to: '525512340001', waId: '5215512340001', userId: 'MX.1' }
  expect(await getMessage(account, messageId)).toMatchObject(names)
  const events = await account.trpc.event.list.query({})
  expect(events.items.at(-1)?.event).toMatchObject({ type: 'message.delivered', data: names })
})

test('applies a stop with only a user ID to the number that WhatsApp had paired with it', async () => {
  const { to, userId } = newPerson()
  await teach({ to, userId })

  await prefer('stop', { user_id: userId })

  expect(await isSuppressed(to)).toBe(true)
  expect(await listed()).toMatchObject([{ to, userId, reason: 'preference' }])
  expect((await listRecorded(server, account)).at(-1)).toMatchObject({
    type: 'recipient.opted_out',
    data: { to, userId, reason: 'preference' },
  })
  await prefer('resume', { user_id: userId }, { at: replyTime + 10 })
  expect(await isSuppressed(to)).toBe(false)
})

test('stores and reports a stop with an unknown user ID, and applies it to the number once that is known', async () => {
  const { to, userId } = newPerson()
  await prefer('stop', { user_id: userId })
  expect(await listed()).toMatchObject([{ to: userId, userId }])
  expect(await listRecorded(server, account)).toMatchObject([{ data: { to: userId, userId } }])
  expect(await isSuppressed(to)).toBe(false)

  await teach({ to, userId })

  expect(await isSuppressed(to)).toBe(true)
  expect(await listed()).toMatchObject([{ to, userId, reason: 'preference' }])
  expect(await account.trpc.suppression.remove.mutate({ to })).toMatchObject({ removed: true })
  expect(await listed()).toEqual([])
})

test('applies a stop of a number to messages of someone whose ID is learned later', async () => {
  const { to, userId } = newPerson()
  await prefer('stop', { wa_id: to })
  await teach({ to, userId })

  await prefer('resume', { user_id: userId }, { at: replyTime + 10 })

  expect(await isSuppressed(to)).toBe(false)
})

test('covers the number by the parent user ID', async () => {
  const { to, userId } = newPerson()
  await teach({ to, userId }, { recipient_parent_user_id: 'ES.ENT.77' })

  await write('STOP', { from_user_id: 'ES.77000', from_parent_user_id: 'ES.ENT.77' })

  expect(await isSuppressed(to)).toBe(true)
})

test.each([
  { names: 'only a user ID', from: (userId: string) => ({ from_user_id: userId }) },
  { names: 'a number and a user ID', from: (userId: string, to: string) => ({ from: to, from_user_id: userId }) },
])('applies STOP from $names', async ({ from }) => {
  const { to, userId } = newPerson()
  const { waMessageId } = await teach({ to, userId })

  await write('STOP', from(userId, to), { repliesTo: waMessageId })

  expect(await isSuppressed(to)).toBe(true)
  const events = await listRecorded(server, account)
  expect(events.map(({ type }) => type)).toEqual(['message.replied', 'recipient.opted_out'])
  expect(events[0]?.data).toMatchObject({ to, reply: { userId } })
})

test('learns a pair from the contacts of a callback', async () => {
  const { to, userId } = newPerson()
  await prefer('stop', { user_id: userId }, { contacts: [{ wa_id: to, user_id: userId }] })

  expect(await isSuppressed(to)).toBe(true)
})

test.each([
  { key: 'contacts', value: {} },
  { key: 'wa_id', value: { contacts: [{ user_id: 'ES.5' }] } },
  { key: 'user_id', value: { contacts: [{ wa_id: exampleSend.to }] } },
  { key: 'both names', value: { contacts: [{ profile: { name: 'Ada' } }] } },
  { key: 'readable names', value: { contacts: [{ wa_id: null, user_id: 7 }, null, 'x'] } },
])('accepts statuses, messages and preferences without $key', async ({ value }) => {
  const { waMessageId } = await sendOne(account)
  const bare = { id: waMessageId, status: 'delivered', timestamp: String(replyTime) }
  const message = { id: newWamid(), timestamp: String(replyTime), ...text('STOP') }
  const preference = { category: 'marketing_messages', value: 'stop', timestamp: replyTime }

  await receive('messages', { ...value, statuses: [bare], messages: [message] })
  await receive('user_preferences', { ...value, user_preferences: [preference] })

  expect((await account.trpc.message.list.query({})).items).toMatchObject([{ status: 'delivered' }])
  expect(await listed()).toEqual([])
})

test('recognizes every spelling that WhatsApp reports in its response to a send', async () => {
  await sendOne(account, { to: '22507020304' })

  await prefer('stop', { wa_id: '2250707020304' })

  expect(await isSuppressed('22507020304')).toBe(true)
  expect(await isSuppressed('2250707020304')).toBe(true)
  expect(await listed()).toMatchObject([{ to: '2250707020304' }])
})

test('recognizes both spellings of a number in Argentina, also in entries of earlier versions', async () => {
  await prefer('stop', { wa_id: '5491155550171' })
  const since = new Date('2026-08-01T00:00:00Z')
  await server.deps.db
    .insertInto('suppressions')
    .values({
      account_id: account.accountId,
      number_key: '5491155550172',
      to_number: '5491155550172',
      id: 'sup_1',
      suppressed: true,
      reason: 'reply',
      since,
      changed_at: since,
      whatsapp_account_id: null,
    })
    .execute()

  for (const to of ['541155550171', '5491155550171', '541155550172', '5491155550172'])
    expect(await isSuppressed(to)).toBe(true)

  await write('START', { from: '541155550172' })
  expect(await isSuppressed('5491155550172')).toBe(false)
})

test('finds the messages of a recipient by each spelling of the number and by the user ID', async () => {
  const { userId } = newPerson()
  const { messageId } = await teach({ to: '525512340077', userId }, { recipient_id: '5215512340077' })
  const owner = await signedInOwner(server, account.accountId)

  for (const name of ['525512340077', '5215512340077', userId]) {
    const found = { items: [{ messageId }] }
    expect(await account.trpc.message.list.query({ [name === userId ? 'recipient' : 'to']: name })).toMatchObject(found)
    const { data } = await owner.query('message.list', { accountId: account.accountId, search: name })
    expect(data).toMatchObject({ ...found, matched: 'recipient' })
  }
})

test('takes no number with another ending for a spelling of the recipient', async () => {
  const [to, other] = ['34600777001', '34600777002']
  const { messageId, waMessageId } = await sendOne(account, { to })
  await report(server, account, [status('delivered', waMessageId, { recipient: { recipient_id: other } })])
  await prefer('stop', { wa_id: other })

  expect(await getMessage(account, messageId)).not.toHaveProperty('waId')
  expect([await isSuppressed(to), await isSuppressed(other)]).toEqual([false, true])
})

test('transfers an opt-out to the new number of a person', async () => {
  const old = newPerson()
  const { to: current } = newPerson()
  await teach(old)
  await prefer('stop', { user_id: old.userId })
  const system = {
    body: `User changed from ${old.to} to ${current}`,
    type: 'user_changed_number',
    wa_id: current,
    user_id: 'ES.1001',
    previous_user_id: old.userId,
  }

  await receive('messages', {
    messages: [{ from: old.to, id: newWamid(), timestamp: String(replyTime + 5), type: 'system', system }],
  })

  expect(await isSuppressed(current)).toBe(true)
  await prefer('resume', { user_id: 'ES.1001' }, { at: replyTime + 10 })
  expect(await isSuppressed(current)).toBe(false)
  // The number that the person gave up stays on the list until it is removed.
  expect(await isSuppressed(old.to)).toBe(true)
})

test.each([
  { how: 'before v12.0', system: (old: string, current: string) => ({ customer: old, new_wa_id: current }) },
  { how: 'since then', system: (old: string, current: string) => ({ customer: old, wa_id: current }) },
])('transfers an opt-out to a new number in the words of the older reference, $how', async ({ system }) => {
  const [{ to: old }, { to: current }] = [newPerson(), newPerson()]
  await prefer('stop', { wa_id: old })

  const change = { type: 'customer_changed_number', ...system(old, current) }
  await receive('messages', {
    messages: [{ from: old, id: newWamid(), timestamp: String(replyTime + 5), type: 'system', system: change }],
  })

  expect(await isSuppressed(current)).toBe(true)
})

test.each([
  { how: 'a field', change: (previous: string) => ({ user_id: 'ES.2001', previous_user_id: previous }) },
  {
    how: 'the text',
    change: (previous: string) => ({ user_id: 'ES.2001', body: `User changed from ${previous} to ES.2001` }),
  },
])('applies a stop to a person whose user ID changed, according to $how', async ({ change }) => {
  const { to, userId } = newPerson()
  await teach({ to, userId })
  const system = { type: 'user_changed_user_id', ...change(userId) }
  await receive('messages', {
    messages: [{ id: newWamid(), timestamp: String(replyTime + 5), type: 'system', system }],
  })

  await prefer('stop', { user_id: 'ES.2001' }, { at: replyTime + 6 })

  expect(await isSuppressed(to)).toBe(true)
})

test('keeps the names of accounts apart', async () => {
  const other = await server.account()
  await other.template(sale)
  const { to, userId } = newPerson()
  await teach({ to, userId })

  await receive(
    'user_preferences',
    { user_preferences: [{ user_id: userId, category: 'marketing_messages', value: 'stop', timestamp: replyTime }] },
    other,
  )

  expect(await isSuppressed(to)).toBe(false)
  expect((await other.trpc.suppression.list.query({})).items).toMatchObject([{ to: userId }])
})

test('misses no stop that arrives while its pair is learned', async () => {
  const people = Array.from({ length: 20 }, newPerson)

  await Promise.all(people.flatMap((person) => [teach(person), prefer('stop', { user_id: person.userId })]))

  for (const { to } of people) expect(await isSuppressed(to)).toBe(true)
})

async function readNames(): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select to_jsonb(i)::text as text from recipient_identities i
    union all select to_jsonb(s)::text from suppressions s
    union all select to_jsonb(m)::text from messages m`.execute(server.deps.db)
  return rows.map((row) => row.text).join()
}

test.each(['to', 'userId'] as const)('erases every name of a person, given the %s', async (given) => {
  const person = newPerson()
  const { messageId } = await teach(person)
  await prefer('stop', { user_id: person.userId })
  const untouched = newPerson()
  await teach(untouched)

  const erased = await erase(server, person[given])

  expect(erased).toMatchObject({ complete: true, messages: 1, rows: { recipient_identities: 2 } })
  const names = await readNames()
  expect(names).not.toContain(person.to)
  expect(names).not.toMatch(new RegExp(`${person.userId}\\b`))
  expect(names).toContain(untouched.userId)
  expect(await getMessage(account, messageId)).toMatchObject({ to: 'erased' })
  // The person stays opted out under both names, and is listed once.
  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([{ to: 'erased' }])
  expect(await isSuppressed(person.to)).toBe(true)
  await prefer('stop', { user_id: person.userId })
  expect((await listRecorded(server, account)).filter(({ type }) => type === 'recipient.opted_out')).toHaveLength(1)
})

const contactBookCalls = () => server.simulator.requests.filter(({ path }) => path.endsWith('/contact_book'))

test("deletes a person's entries from the contact book at Meta, by each user ID", async () => {
  const { to } = newPerson()
  const waMessageIds = [(await sendOne(account, { to })).waMessageId, (await sendOne(account, { to })).waMessageId]
  const userId = userOfNumber(to, account.wabaId).userId
  const others = { recipient_id: to, recipient_user_id: userId, recipient_parent_user_id: 'ES.ENT.90' }
  await report(server, account, [status('delivered', waMessageIds[0] ?? '', { recipient: others, at: replyTime })])
  const before = contactBookCalls().length

  expect(await erase(server, to)).toMatchObject({ contactBook: { deleted: 1, failed: [] }, complete: true })

  const calls = contactBookCalls().slice(before)
  expect(calls).toMatchObject([{ method: 'DELETE', path: `/${account.phoneNumberId}/contact_book` }])
  expect(Object.fromEntries(calls[0]?.query ?? [])).toEqual({ messaging_product: 'whatsapp', bsuid: userId })
})

test.each([
  { answer: failWith(190), what: 'rejects the token' },
  { answer: { kind: 'drop' as const }, what: 'does not answer' },
])('erases a person although WhatsApp $what, and says that an entry may remain at Meta', async ({ answer }) => {
  const { to } = newPerson()
  const person = { to, userId: userOfNumber(to, account.wabaId).userId }
  await teach(person)
  server.simulator.intercept(({ path }) => (path.endsWith('/contact_book') ? answer : undefined))

  const erased = await erase(server, person.to)
  server.simulator.intercept(undefined)

  const { userId } = person
  expect(erased).toMatchObject({
    contactBook: { deleted: 0, failed: [{ accountId: account.accountId, userId }] },
    complete: true,
  })
  expect(await readNames()).not.toContain(person.to)

  // The user ID is no longer stored, so only the command itself names it.
  expect(await erase(server, userId, account.accountId)).toMatchObject({
    messages: 0,
    contactBook: { deleted: 1, failed: [] },
  })
  expect(await erase(server, userId, account.accountId)).toMatchObject({ contactBook: { deleted: 0, failed: [] } })
})

test('stops asking about the contact book once WhatsApp does not answer', async () => {
  const person = newPerson()
  const accounts = [account, await server.account()]
  for (const one of accounts) await teach(person, {}, one)
  const before = contactBookCalls().length
  server.simulator.intercept(({ path }) => (path.endsWith('/contact_book') ? { kind: 'drop' } : undefined))

  const { contactBook, complete } = await erase(server, person.to)
  server.simulator.intercept(undefined)

  expect(contactBookCalls()).toHaveLength(before + 1)
  expect(complete).toBe(true)
  expect(contactBook.failed.map(({ accountId }) => accountId).sort()).toEqual(
    accounts.map(({ accountId }) => accountId).sort(),
  )
})

test('exports the names of recipients', async () => {
  const { to, userId } = newPerson()
  await teach({ to, userId })

  const lines: string[] = []
  for await (const page of exportAccount(server.deps, account.accountId)) lines.push(...page)

  const records = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'recipientIdentity')
  expect(records.map(({ data }) => data)).toEqual([
    { number: to, person: to, seenAt: expect.any(String) },
    { userId, person: to, seenAt: expect.any(String) },
  ])
})

test('forgets names when messages expire, except those of suppressed recipients', async () => {
  const [forgotten, stopped, resumed] = [newPerson(), newPerson(), newPerson()]
  for (const person of [forgotten, stopped, resumed]) await teach(person)
  for (const person of [stopped, resumed]) await prefer('stop', { user_id: person.userId })
  await account.post('/api/v1/suppression/remove', { to: resumed.to })
  await sql`update recipient_identities set seen_at = now() - interval '91 days'`.execute(server.deps.db)

  const listIdentities = async () => {
    const { rows } = await sql<{ identity: string }>`
      select identity from recipient_identities where account_id = ${account.accountId} order by identity`.execute(
      server.deps.db,
    )
    return rows.map(({ identity }) => identity)
  }

  await deleteOldIdentities(server.deps.db, { now: new Date(0), retentionDays: 90 })
  expect(await listIdentities()).toHaveLength(6)
  await deleteOldIdentities(server.deps.db, { now: new Date(), retentionDays: 90, batchSize: 1 })
  expect(await listIdentities()).toEqual([stopped.to, stopped.userId])
  expect(await readNames()).toContain(stopped.userId)
})

test('logs no name', async () => {
  const { to, userId } = newPerson()
  await teach({ to, userId })
  await prefer('stop', { user_id: userId })
  await isSuppressed(to)

  expect(server.log.filter((line) => line.includes(to) || line.includes(userId))).toEqual([])
})

const askForNumber = {
  name: 'ask_for_number',
  components: [
    { type: 'BODY', text: 'Where may we call you?' },
    { type: 'BUTTONS', buttons: [{ type: 'REQUEST_CONTACT_INFO', text: 'Share Contact Info' }] },
  ],
}

/** The answer to a button that asks for the number. */
function share(
  number: string,
  names: object,
  {
    repliesTo = '',
    origin = 'contact_request',
    phones = [{ phone: `+${number}`, wa_id: number, type: 'CELL' }] as object[],
  } = {},
) {
  const contacts = [{ origin, phones }]
  const context = repliesTo === '' ? {} : { context: { from: '15550783881', id: repliesTo } }
  const message = { ...context, ...names, id: newWamid(), timestamp: String(replyTime), type: 'contacts', contacts }
  return receive('messages', { contacts: [names], messages: [message] })
}

test('sends a template that asks for the number, and reports the number that the person shares', async () => {
  await account.template(askForNumber)
  const { to, userId } = newPerson()
  const request = { recipient: userId, template: askForNumber.name, language: 'en' }
  const response = await account.post('/api/v1/message/send', request)
  expect(response.statusCode).toBe(200)

  await share(to, { from_user_id: userId }, { repliesTo: response.json().data['waMessageId'] as string })

  expect(await listRecorded(server, account)).toMatchObject([
    { type: 'message.replied', data: { reply: { kind: 'contact', text: `+${to}`, from: to, userId } } },
  ])
  await prefer('stop', { user_id: userId })
  expect(await isSuppressed(to)).toBe(true)
})

test('learns a shared number although WhatsApp does not say which message asked for it', async () => {
  const { to, userId } = newPerson()
  await share(to, { from_user_id: userId })
  await prefer('stop', { user_id: userId })

  expect(await isSuppressed(to)).toBe(true)
  expect(await listRecorded(server, account)).toMatchObject([{ type: 'recipient.opted_out' }])
})

test.each<{ what: string; phones: (to: string) => object[]; known: boolean }>([
  { what: 'its ID is missing', phones: (to) => [{ phone: `+34 ${to.slice(2, 5)}-${to.slice(5)}` }], known: true },
  { what: 'it is not the first', phones: (to) => [{ type: 'CELL' }, { wa_id: to }], known: true },
  { what: 'it has no country code', phones: (to) => [{ phone: to.slice(2) }], known: false },
])('learns a shared number although $what: $known', async ({ phones, known }) => {
  const { to, userId } = newPerson()
  await share(to, { from_user_id: userId }, { phones: phones(to) })
  await prefer('stop', { user_id: userId })

  expect(await isSuppressed(to)).toBe(known)
})

test('does not take a contact that was shared by hand for the number of the person', async () => {
  const { to, userId } = newPerson()
  await share(to, { from_user_id: userId }, { origin: 'other' })
  await prefer('stop', { user_id: userId })

  expect(await isSuppressed(to)).toBe(false)
})
