import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { sendMessage } from '../../contracts/api/message.ts'
import { messageEventTypes, webhooks } from '../../contracts/events.ts'
import { insertEvents } from '../support/events.ts'
import { pdf } from '../support/media-files.ts'
import type { TestAccount, TestServer } from '../support/server.ts'

/** The input of a program with a generated client. */
interface Environment {
  WAYBILL_URL: string
  WAYBILL_API_KEY: string
  /** The key of an account that may send one message per minute. */
  WAYBILL_LIMITED_API_KEY: string
  /** Path of a PDF file. */
  WAYBILL_FILE: string
}

const Failure = z.strictObject({ status: z.int(), code: z.string() })

/** Its output: one JSON object. */
const Report = z.strictObject({
  /** The ID of the message that it sent with an `Idempotency-Key`, and the ID that a repetition returned. */
  sent: z.string(),
  repeated: z.string(),
  /** A send with the template `no_such_template`, and one to the recipient `+34600111222`. */
  unknownTemplate: Failure,
  invalid: Failure,
  /** Of up to three sends with the limited key, the first that failed. `retryAfter` is null if the client hides headers. */
  limited: Failure.extend({ retryAfter: z.int().nullable() }),
  /** The IDs on all pages of two. */
  messages: z.array(z.string()),
  events: z.array(z.string()),
  /** The media ID of the file, uploaded with the name `Invoice 7.pdf`. Null if the client cannot upload. */
  uploaded: z.string().nullable(),
})

/** The checks of each client, in the columns of the table in the guide. */
export const checks = [
  'sends',
  'repeats without a second message',
  'reads error codes',
  'reads `Retry-After`',
  'lists every page',
  'uploads a file',
] as const
export type Check = (typeof checks)[number]

export interface Scenario {
  environment: Environment
  /** Compares the output of the program with the server's data; returns the failed checks with their reasons. */
  examine(output: string): Promise<Partial<Record<Check, Error>>>
}

/** An account with four messages and an event of each type, for one program. */
export async function prepareScenario(server: TestServer): Promise<Scenario> {
  const account = await server.account()
  const limited = await server.account({ rateLimit: 1 })
  const earlier: string[] = []
  for (let count = 0; count < 4; count++) {
    const response = await account.post('/api/v1/message/send', sendMessage.example.input)
    earlier.unshift(String(response.json().data['messageId']))
  }
  const events = await recordEvents(server, account)
  const content = pdf()
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'waybill-client-')), 'invoice.pdf')
  await writeFile(file, content)
  return {
    environment: {
      WAYBILL_URL: server.url,
      WAYBILL_API_KEY: account.apiKey,
      WAYBILL_LIMITED_API_KEY: limited.apiKey,
      WAYBILL_FILE: file,
    },
    examine: async (output) => {
      await rm(path.dirname(file), { recursive: true })
      const report = Report.parse(JSON.parse(output))
      const uploaded = await account.get(`/api/v1/media/${report.uploaded}`)
      return collectFailures({
        sends: () => {
          expect(report.sent).toMatch(/^msg_[0-9a-z]{26}$/)
          expect(report.messages[0]).toBe(report.sent)
        },
        // Exactly one message is stored, however the client parsed the responses.
        'repeats without a second message': () => {
          expect(report.repeated).toBe(report.sent)
          expect(countSends(server, account)).toBe(earlier.length + 1)
          expect(countSends(server, limited)).toBeLessThanOrEqual(2)
        },
        'reads error codes': () =>
          expect(report).toMatchObject({
            unknownTemplate: { status: 404, code: 'TEMPLATE_NOT_FOUND' },
            invalid: { status: 400, code: 'VALIDATION_ERROR' },
            limited: { status: 429, code: 'RATE_LIMIT_EXCEEDED' },
          }),
        'reads `Retry-After`': () => {
          expect(report.limited.retryAfter).toBeGreaterThan(0)
          expect(report.limited.retryAfter).toBeLessThanOrEqual(60)
        },
        'lists every page': () => expect(report).toMatchObject({ messages: [report.sent, ...earlier], events }),
        'uploads a file': () =>
          expect(uploaded.json().data).toMatchObject({
            filename: 'Invoice 7.pdf',
            type: 'application/pdf',
            sha256: createHash('sha256').update(content).digest('hex'),
          }),
      })
    },
  }
}

function collectFailures(assertions: Record<Check, () => void>): Partial<Record<Check, Error>> {
  return Object.fromEntries(
    checks.flatMap((check) => {
      try {
        assertions[check]()
        return []
      } catch (error) {
        return [[check, error instanceof Error ? error : new Error(String(error))]]
      }
    }),
  )
}

/** One event of each type, so that a client receives every shape. */
async function recordEvents({ deps }: TestServer, { accountId }: TestAccount): Promise<string[]> {
  const events = messageEventTypes.map((type) => {
    const { example } = webhooks[type]
    return {
      accountId,
      id: deps.newId('evt'),
      type,
      messageId: example.data.messageId,
      payload: JSON.stringify(example),
      createdAt: new Date(),
    }
  })
  await insertEvents(deps.db, events, () => deps.newId('dlv'))
  return events.map(({ id }) => id).toSorted()
}

function countSends({ simulator }: TestServer, { phoneNumberId }: TestAccount): number {
  return simulator.requests.filter(({ method, path }) => method === 'POST' && path === `/${phoneNumberId}/messages`)
    .length
}
