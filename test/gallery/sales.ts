import { createClient, type WaybillClient } from '../../src/client/client.ts'
import { applyStatuses, type IncomingStatus } from '../../src/messages/status/apply-statuses.ts'
import type { TestServer } from '../support/server.ts'
import type { StoppedClock } from './clock.ts'

interface Account {
  accountId: string
  apiKey: string
  whatsAppAccountId: string
  germanAccountId: string
}

export interface Sales {
  /** Sends messages at this time, and reports their statuses. */
  sendAt(time: Date, atMost: number): Promise<void>
  /** The last message that was read. */
  lastRead(): string
}

type Input = Parameters<WaybillClient['message']['send']['mutate']>[0]

const names = ['Ada', 'Lucía', 'Jonas', 'Inês', 'Camille', 'Mateo', 'Greta', 'Pablo']
const second = 1000
const betweenMilliseconds = 41_000

/** The errors that the simulator returns for these numbers (`sandbox.md`). */
const refusedNumbers = ['15550131026', '15550131026', '15550131049', '15550130472']

/** Calls that the API rejects, like typical mistakes of developers. */
const mistakes: { path: string; body: object }[] = [
  {
    path: '/api/v1/message/send',
    body: {
      to: '+34 655 01 02 03',
      template: 'order_shipped',
      language: 'en',
      variables: { '1': 'Ada', '2': '10423' },
    },
  },
  { path: '/api/v1/message/send', body: { to: '34655010204', template: 'order_shiped', language: 'en' } },
  {
    path: '/api/v1/message/send',
    body: { to: '34655010205', template: 'order_shipped', language: 'en', variables: { '1': 'Ada' } },
  },
]

export function createSales(
  { deps, url, request }: TestServer,
  account: Account,
  { clock, until }: { clock: StoppedClock; until: Date },
): Sales {
  const random = createRandom(20_261_119)
  const { message } = createClient({ url, apiKey: account.apiKey })
  let orders = 10_230
  let lastRead = ''

  const pick = <Value>(values: readonly Value[]): Value =>
    choose(
      random,
      values.map((value) => [1, value] as const),
    )

  function draft(): Input {
    const order = String(++orders)
    const to = choose(random, [
      [62, '34655'],
      [20, '49171'],
      [12, '33655'],
      [6, '351912'],
    ])
    const name = pick(names)
    const recipient = `${to}${String(Math.floor(random() * 1_000_000)).padStart(6, '0')}`
    const common = {
      to: recipient,
      externalId: `order-${order}`,
      ...(to === '49171' && { accountId: account.germanAccountId }),
    }
    const shipped = { template: 'order_shipped', variables: { '1': name, '2': order } }
    return choose<Input>(random, [
      [40, { ...common, ...shipped, language: to === '34655' ? 'es' : 'en' }],
      [18, { ...common, template: 'delivery_feedback', language: 'en', variables: { '1': name } }],
      [
        16,
        {
          ...common,
          template: 'appointment_reminder',
          language: 'en',
          variables: { first_name: name, date: '21 November', time: '10:30' },
        },
      ],
      [
        10,
        {
          ...common,
          template: 'birthday_coupon',
          language: 'en',
          variables: { '1': name },
          buttons: [{ index: 0, couponCode: 'GIFT9' }],
        },
      ],
      [8, { ...common, template: 'hello_world', language: 'en_US' }],
    ] as [number, Input][])
  }

  async function sendOne(time: Date): Promise<IncomingStatus[]> {
    const input = draft()
    if (random() < 0.04) {
      await message.send.mutate({ ...input, to: pick(refusedNumbers) }).catch(() => {})
      return []
    }
    const { messageId, waMessageId } = await message.send.mutate(input)
    const category = input.template === 'birthday_coupon' ? 'marketing' : 'utility'
    const delays = [2 + random() * 9, 40 + random() * 900].map((seconds) => Math.round(seconds) * second)
    const [deliveredAt, readAt] = delays.map((delay) => new Date(time.getTime() + delay))
    const report = (status: 'delivered' | 'read' | 'failed', at = time, error?: { code: string; message: string }) => ({
      accountId: account.accountId,
      messageId,
      waMessageId,
      report: { waMessageId, status, at, error, ...(error === undefined && { pricing: category }) },
    })
    const fate = random()
    if (fate < 0.05) return [report('failed', deliveredAt, pick(failures))]
    if (fate < 0.07) return []
    if (fate < 0.4) return [report('delivered', deliveredAt)]
    lastRead = messageId
    return [report('delivered', deliveredAt), report('read', readAt)]
  }

  async function makeMistake(): Promise<void> {
    const { path, body } = pick(mistakes)
    await request('POST', path, {
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  return {
    sendAt: async (time, atMost) => {
      const count = Math.ceil((0.4 + 0.6 * random()) * atMost)
      const statuses: IncomingStatus[] = []
      // Sequentially, so that their order is the same in every run.
      for (let sent = 0; sent < count; sent++) {
        const sentAt = new Date(Math.min(time.getTime() + sent * betweenMilliseconds, until.getTime()))
        await clock.moveTo(sentAt)
        statuses.push(...(await sendOne(sentAt)))
      }
      if (random() < 0.3) await makeMistake()
      await applyStatuses(
        deps,
        statuses.filter(({ report }) => report.at <= until),
      )
    },
    lastRead: () => lastRead,
  }
}

const failures = [
  { code: '131026', message: 'Message Undeliverable' },
  { code: '131026', message: 'Message Undeliverable' },
  { code: '131049', message: 'This message was not delivered to maintain healthy ecosystem engagement.' },
  { code: '131053', message: 'Media upload error' },
]

/** A generator of numbers from 0 to 1 that yields the same sequence in every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Bytes in the same sequence in every run. */
export function createRandomBytes(seed: number): (size: number) => Uint8Array {
  const random = createRandom(seed)
  return (size) => Uint8Array.from({ length: size }, () => Math.floor(random() * 256))
}

/** Chooses one of the values by its weight. */
function choose<Value>(random: () => number, values: readonly (readonly [weight: number, value: Value])[]): Value {
  const total = values.reduce((sum, [weight]) => sum + weight, 0)
  let left = random() * total
  for (const [weight, value] of values) {
    left -= weight
    if (left < 0) return value
  }
  throw new RangeError('there is no value to choose')
}
