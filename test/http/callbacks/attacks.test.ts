import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import { toReasonColumns } from '../../../src/whatsapp-accounts/inactive-reason.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { signCallback } from '../../../src/whatsapp/callbacks/signature.ts'
import { callbackPath, getMessage, messagesCallback, post, sendOne, status } from '../../support/callbacks.ts'
import { patientSeconds } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'
import { lockWaits } from '../../support/lock-waits.ts'
import { openSocket } from '../../support/raw-socket.ts'

const server = await forFile(startTestServer())

const secrets = ['first-app', 'second-app', 'third-app', 'fourth-app']

/** An account with a number for each of its four apps. */
async function attacker(): Promise<TestAccount & { ids: string[] }> {
  const account = await server.account()
  const ids = []
  for (const [index, secret] of secrets.entries())
    ids.push(await account.addWhatsAppAccount({ phoneNumberId: `${account.phoneNumberId}${index}`, appSecret: secret }))
  return { ...account, ids }
}

/** Sends `count` callbacks, signed by each app of the account in turn. */
function flood({ ids }: { ids: string[] }, body: string, count: number, node = server): Promise<number>[] {
  return Array.from({ length: count }, async (_, index) => {
    const app = index % secrets.length
    return (await post(node, body, { secret: secrets[app] ?? '', to: ids[app] ?? '' })).statusCode
  })
}

/** As Meta does, sends callbacks again that the server has no time for: on a busy machine, these can be any. */
async function untilTaken(send: () => Promise<number>): Promise<number> {
  for (;;) {
    const statusCode = await send()
    if (statusCode !== 503 && statusCode !== 408) return statusCode
  }
}

function changesCallback(wabaId: string, count: number, change: (index: number) => object): string {
  return JSON.stringify({
    entry: [{ id: wabaId, changes: Array.from({ length: count }, (_, index) => change(index)) }],
  })
}

function accountUpdate(state: 'DISABLE' | 'REINSTATE' | undefined): object {
  return {
    field: 'account_update',
    value: { event: 'DISABLED_UPDATE', ...(state && { ban_info: { waba_ban_state: state } }) },
  }
}

function templateStatus(name: string, event: string): object {
  const value = { event, message_template_name: name, message_template_language: 'en' }
  return { field: 'message_template_status_update', value }
}

/** A callback of 75 KB for a message of this account. */
async function largeCallback(account: TestAccount): Promise<{ callback: object; messageId: string }> {
  const { messageId, waMessageId } = await sendOne(account)
  const statuses = Array.from({ length: 260 }, (_, index) =>
    status(index % 2 === 0 ? 'sent' : 'delivered', waMessageId, { callbackData: messageId }),
  )
  return { callback: messagesCallback(account.phoneNumberId, statuses), messageId }
}

test.each([
  {
    what: 'changes of its account',
    change: (index: number) => accountUpdate(index % 2 === 0 ? 'DISABLE' : 'REINSTATE'),
  },
  { what: 'changes of as many templates', change: (index: number) => templateStatus(`template_${index}`, 'PAUSED') },
])('answers another app before the last of twelve callbacks of one account with 20,000 $what', async ({ change }) => {
  const mallory = await attacker()
  const other = await server.account()
  const { callback, messageId } = await largeCallback(other)
  const body = changesCallback(mallory.wabaId, 20_000, change)
  let answered = 0
  const callbacks = secrets.flatMap((secret, index) =>
    Array.from({ length: 3 }, async () => {
      const to = mallory.ids[index] ?? ''
      const statusCode = await untilTaken(async () => (await post(server, body, { secret, to })).statusCode)
      answered += 1
      return statusCode
    }),
  )

  expect(await untilTaken(async () => (await post(server, callback)).statusCode)).toBe(200)
  const answeredBefore = answered

  expect(await getMessage(other, messageId)).toMatchObject({ status: 'delivered' })
  // How many come first depends on the machine; the next tests show that they keep a turn free.
  expect(answeredBefore).toBeLessThan(12)
  expect(await Promise.all(callbacks)).toEqual(Array.from({ length: 12 }, () => 200))
})

describe('while the rows of one account are locked', () => {
  let mallory: Awaited<ReturnType<typeof attacker>>
  /** A node that waits for locks as long as the test needs. */
  let node: TestServer
  beforeAll(async () => {
    mallory = await attacker()
    const location = { kind: 'postgres', url: server.database.url ?? '', ...patientSeconds } as const
    node = await startTestServer({ beside: server, deps: { db: openDatabase(location, server.deps.log) } })
  })
  afterAll(async () => {
    await node?.close()
    await node?.deps.db.destroy()
  })

  /** Locks its WhatsApp accounts until `work` has finished. */
  function whileLocked(work: () => Promise<void>): Promise<void> {
    return server.deps.db.transaction().execute(async (trx) => {
      await sql`select from whatsapp_accounts where account_id = ${mallory.accountId} for update`.execute(trx)
      await work()
    })
  }

  async function countUnreceived(reason: string): Promise<number> {
    const { text } = await node.request('GET', '/metrics')
    return Number(new RegExp(`callbacks_unreceived_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  }

  /** Sends a callback and hangs up as soon as its first changes wait for the lock. */
  async function hangUpOnceBlocked(body: string): Promise<void> {
    const signature = signCallback(Buffer.from(body), secrets[0] ?? '')
    const socket = openSocket(node.url)
    socket.write(
      `POST ${callbackPath}/${mallory.ids[0]} HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: ${signature}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await expect.poll(() => lockWaits(server.deps.db)).not.toEqual([])
    socket.destroy()
    await once(socket, 'close')
    // The server reads the end of the connection before it answers a later one.
    await node.request('GET', '/healthz')
  }

  test('keeps a turn for other accounts, although its callbacks are signed by four apps', async () => {
    const other = await server.account()
    const { callback, messageId } = await largeCallback(other)
    const body = changesCallback(mallory.wabaId, 1_000, () => accountUpdate('DISABLE'))
    let callbacks: Promise<number>[] = []

    await whileLocked(async () => {
      callbacks = flood(mallory, body, 8, node)
      await expect.poll(() => lockWaits(server.deps.db)).not.toEqual([])
      expect((await post(node, callback)).statusCode).toBe(200)
    })

    expect(await getMessage(other, messageId)).toMatchObject({ status: 'delivered' })
    expect(await Promise.all(callbacks)).toEqual(Array.from({ length: 8 }, () => 200))
  })

  test('abandons changes of templates and accounts once their client has hung up', async () => {
    await mallory.template({ name: 'late_change' })
    const before = await countUnreceived('interrupted')
    const body = changesCallback(mallory.wabaId, 1_001, (index) =>
      index < 1_000 ? accountUpdate('REINSTATE') : templateStatus('late_change', 'PAUSED'),
    )

    await whileLocked(() => hangUpOnceBlocked(body))

    await expect.poll(() => countUnreceived('interrupted')).toBe(before + 1)
    const { data } = (await mallory.get('/api/v1/template/late_change/en')).json()
    expect(data).toMatchObject({ status: 'APPROVED' })
    expect((await post(node, body, { secret: secrets[0] ?? '', to: mallory.ids[0] ?? '' })).statusCode).toBe(200)
    expect((await mallory.get('/api/v1/template/late_change/en')).json().data).toMatchObject({ status: 'PAUSED' })
  })

  test('applies statuses although their client has hung up', async () => {
    const { messageId, waMessageId } = await sendOne(mallory, { accountId: mallory.ids[0] })
    const changes = Array.from({ length: 1_000 }, () => accountUpdate('REINSTATE'))
    const read = status('read', waMessageId, { callbackData: messageId })
    const callback = messagesCallback(`${mallory.phoneNumberId}0`, [read]) as { entry: object[] }
    const body = JSON.stringify({ entry: [{ id: mallory.wabaId, changes }, ...callback.entry] })

    await whileLocked(() => hangUpOnceBlocked(body))

    await expect.poll(async () => (await getMessage(mallory, messageId))['status']).toBe('read')
  })
})

test('asks Meta to send a callback again that takes too long, and applies it then', async () => {
  const customer = await server.account()
  const node = await nodeForTest(server, {
    server: { callbacks: { ...server.deps.callbacks, handlingMilliseconds: 0 } },
  })
  const { callback, messageId } = await largeCallback(customer)

  const late = await post(node, callback)

  expect(late).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } })
  expect(late.text).toBe('The callback took too long and was applied only in part. Retry this callback.\n')
  expect(await getMessage(customer, messageId)).toMatchObject({ status: 'sent' })
  expect((await post(server, callback)).statusCode).toBe(200)
  expect(await getMessage(customer, messageId)).toMatchObject({ status: 'delivered' })
})

describe('changes of one account in one callback', () => {
  const disabled = expect.stringContaining('WhatsApp disabled the business account')
  const disabledReason = toReasonColumns(inactiveReasons.disabled({ event: 'DISABLE' }))
  test.each([
    { before: null, states: ['DISABLE', undefined] as const, after: disabled },
    { before: null, states: ['REINSTATE', 'DISABLE'] as const, after: disabled },
    { before: null, states: ['DISABLE', 'REINSTATE', 'DISABLE'] as const, after: disabled },
    { before: null, states: ['DISABLE', 'REINSTATE'] as const, after: null },
    { before: 'WhatsApp rejected the token', states: ['REINSTATE'] as const, after: 'WhatsApp rejected the token' },
    { before: 'WhatsApp rejected the token', states: ['DISABLE', 'REINSTATE'] as const, after: null },
    // Without a fact, the version before stored it.
    { before: 'WhatsApp disabled the business account (X)', states: [undefined, 'REINSTATE'] as const, after: null },
    { before: disabledReason, states: ['REINSTATE'] as const, after: null },
    {
      // The version before replaced the text, and left the fact.
      before: { ...disabledReason, inactiveReason: 'WhatsApp rejected the token' },
      states: ['REINSTATE'] as const,
      after: 'WhatsApp rejected the token',
    },
  ])('apply in order: $before, then $states', async ({ before, states, after }) => {
    const customer = await server.account()
    const findReason = async () => {
      const row = await server.deps.db
        .selectFrom('whatsapp_accounts')
        .select('inactive_reason')
        .where('id', '=', customer.whatsAppAccountId)
        .executeTakeFirstOrThrow()
      return row.inactive_reason
    }
    await server.deps.db
      .updateTable('whatsapp_accounts')
      .set(
        typeof before === 'object' && before !== null
          ? { inactive_reason: before.inactiveReason, inactive_fact: before.inactiveFact }
          : { inactive_reason: before },
      )
      .where('id', '=', customer.whatsAppAccountId)
      .execute()

    await post(
      server,
      changesCallback(customer.wabaId, states.length, (index) => accountUpdate(states[index])),
    )

    expect(await findReason()).toEqual(after)
  })
})

test('applies all changes of a template, the latest of each kind, and none of another account', async () => {
  const [customer, bystander] = [await server.account(), await server.account()]
  const details = { message_template_name: 'order_shipped', message_template_language: 'en' }
  const changes = [
    templateStatus('order_shipped', 'REJECTED'),
    { field: 'message_template_quality_update', value: { ...details, new_quality_score: 'RED' } },
    { field: 'template_category_update', value: { ...details, new_category: 'MARKETING' } },
    templateStatus('order_shipped', 'PAUSED'),
    { field: 'message_template_quality_update', value: { ...details, new_quality_score: 'YELLOW' } },
  ]
  const find = ({ accountId }: TestAccount) =>
    server.deps.db
      .selectFrom('templates')
      .select(['status', 'quality_score', 'category', 'rejected_reason'])
      .where('account_id', '=', accountId)
      .where('name', '=', 'order_shipped')
      .executeTakeFirstOrThrow()
  const untouched = await find(bystander)

  await post(server, { entry: [{ id: customer.wabaId, changes }] })

  expect(await find(customer)).toEqual({
    status: 'PAUSED',
    quality_score: 'YELLOW',
    category: 'MARKETING',
    rejected_reason: null,
  })
  expect(await find(bystander)).toEqual(untouched)
})
