import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { exchange, type GraphRequest } from './exchange.ts'
import { listTemplates } from './list-templates.ts'
import { readPages, type ReadPage } from './pages.ts'
import { readAnswer } from './read.ts'
import { readSend, toSendBody } from './send-template.ts'
import { ListedNumber, Page, PhoneNumber } from './wire.ts'
import type { OutgoingTemplate, PhoneNumberInfo, ReadOutcome, Sender, SendOutcome, WhatsApp } from './whatsapp.ts'

export interface CloudApiOptions {
  /** Base address of the Graph API; a path in it is kept. */
  url: string
  /** Pinned, since without one WhatsApp picks the newest (reference, section 1): `v25.0`. */
  version: string
  timeouts?: Partial<Timeouts>
}

interface Timeouts {
  connectMs: number
  /** From the start of a send to the last byte of its answer, a second try included. */
  sendMs: number
  /** The same for each page of a read. */
  readMs: number
}

const defaultTimeouts: Timeouts = { connectMs: 3_000, sendMs: 20_000, readMs: 20_000 }
/** A send holds one for as long as WhatsApp takes, commonly a tenth of a second. */
const maxConnections = 1024
const retryPauseMs = 200
const maxSendAnswerBytes = 1024 * 1024
/** A page holds up to 100 templates, whose letters Meta may write as six-byte escapes. */
const maxReadAnswerBytes = 8 * 1024 * 1024
const phoneNumberFields = 'display_phone_number,verified_name,status,quality_rating,throughput'

/** The WhatsApp Cloud API over kept-alive connections. */
export function createCloudApi({ url, version, timeouts }: CloudApiOptions): WhatsApp {
  const { connectMs, sendMs, readMs } = { ...defaultTimeouts, ...timeouts }
  const base = new URL(url)
  const prefix = `${base.pathname.replace(/\/+$/, '')}/${version}`
  const pool = new Pool(base.origin, {
    connections: maxConnections,
    connect: { timeout: connectMs },
    // One message per connection at a time: a connection that breaks leaves one outcome open, not many.
    allowH2: false,
    pipelining: 1,
    // The deadline of the exchange counts instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  function get(path: string, accessToken: string) {
    const request: GraphRequest = { method: 'GET', path: `${prefix}/${path}`, headers: authorization(accessToken) }
    return exchange(pool, request, { withinMs: readMs, maxResponseBytes: maxReadAnswerBytes })
  }

  async function sendTemplate(sender: Sender, message: OutgoingTemplate): Promise<SendOutcome> {
    const request: GraphRequest = {
      method: 'POST',
      path: `${prefix}/${encodeURIComponent(sender.phoneNumberId)}/messages`,
      headers: { ...authorization(sender.accessToken), 'content-type': 'application/json' },
      body: JSON.stringify(toSendBody(message)),
    }
    const endsAt = performance.now() + sendMs
    const attempt = async () => {
      const limits = { withinMs: endsAt - performance.now(), maxResponseBytes: maxSendAnswerBytes }
      return readSend(await exchange(pool, request, limits), sender.accessToken)
    }

    const first = await attempt()
    if (!first.retryAtOnce || endsAt - performance.now() < 2 * retryPauseMs) return first.outcome
    await sleep(retryPauseMs)
    return (await attempt()).outcome
  }

  return {
    sendTemplate,
    listTemplates: ({ wabaId, accessToken }) =>
      listTemplates(async (query) => {
        const answer = await get(`${encodeURIComponent(wabaId)}/message_templates?${query}`, accessToken)
        return readAnswer(answer, Page, accessToken)
      }),
    getPhoneNumber: async ({ phoneNumberId, accessToken }) => {
      const answer = await get(`${encodeURIComponent(phoneNumberId)}?fields=${phoneNumberFields}`, accessToken)
      return toPhoneNumberInfo(readAnswer(answer, PhoneNumber, accessToken))
    },
    hasPhoneNumber: async ({ wabaId, phoneNumberId, accessToken }) => {
      const readPage: ReadPage = async (query) =>
        readAnswer(await get(`${encodeURIComponent(wabaId)}/phone_numbers?${query}`, accessToken), Page, accessToken)
      const numbers = await readPages(readPage, { fields: 'id', of: 'phone numbers' })
      if (!numbers.ok) return numbers
      return { ok: true, value: numbers.value.some((item) => ListedNumber.safeParse(item).data?.id === phoneNumberId) }
    },
    close: () => pool.close(),
  }
}

function authorization(accessToken: string): Record<string, string> {
  return { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
}

type PhoneNumberNode = ReturnType<typeof PhoneNumber.parse>

function toPhoneNumberInfo(answer: ReadOutcome<PhoneNumberNode>): ReadOutcome<PhoneNumberInfo> {
  if (!answer.ok) return answer
  const { display_phone_number, verified_name, status, quality_rating, throughput } = answer.value
  return {
    ok: true,
    value: {
      ...(display_phone_number === undefined ? {} : { displayPhoneNumber: display_phone_number }),
      ...(verified_name === undefined ? {} : { verifiedName: verified_name }),
      ...(status === undefined ? {} : { status }),
      ...(quality_rating === undefined ? {} : { qualityRating: quality_rating }),
      ...(throughput?.level === undefined ? {} : { throughput: throughput.level }),
    },
  }
}
