/**
 * Loaded before a process (`node --import`). Marks its requests with its life, and writes to the ledger that it has read a
 * 2xx of the webhook receiver, before Waybill learns it. A repeat after that was avoidable.
 */
import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeSync } from 'node:fs'

const lifeHeader = 'x-chaos-life'
// Imported before the clock of this process can jump.
const TrueDate = Date
const file = openSync(process.env['CHAOS_ANSWERS_FILE'] ?? '', 'a')

/** The message of undici's channel. */
interface AnswerHeaders {
  request: { headers: string | string[] }
  response: { statusCode: number }
}

interface NewRequest {
  request: { addHeader(name: string, value: string): void }
}

// Tells the receiver which process sends, because an answer after its kill reaches nobody.
subscribe('undici:request:create', (message) => {
  ;(message as NewRequest).request.addHeader(lifeHeader, process.env['CHAOS_LIFE'] ?? '')
})

subscribe('undici:request:headers', (message) => {
  const { request, response } = message as AnswerHeaders
  if (response.statusCode < 200 || response.statusCode > 299) return
  const [, eventId] = /webhook-id[:,] ?(evt_\w+)/.exec(String(request.headers)) ?? []
  if (eventId === undefined) return
  writeSync(file, `${JSON.stringify({ at: TrueDate.now(), kind: 'answer read', eventId })}\n`)
})
