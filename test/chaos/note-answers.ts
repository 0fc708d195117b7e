/**
 * Loaded before a process (`node --import`). Writes to the ledger that it has read a 2xx of the webhook receiver, before
 * Waybill learns it. A repeat after that was avoidable.
 */
import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeSync } from 'node:fs'

// Imported before the clock of this process can jump.
const TrueDate = Date
const file = openSync(process.env['CHAOS_ANSWERS_FILE'] ?? '', 'a')

/** The message of undici's channel. */
interface AnswerHeaders {
  request: { headers: string | string[] }
  response: { statusCode: number }
}

subscribe('undici:request:headers', (message) => {
  const { request, response } = message as AnswerHeaders
  if (response.statusCode < 200 || response.statusCode > 299) return
  const [, eventId] = /webhook-id[:,] ?(evt_\w+)/.exec(String(request.headers)) ?? []
  if (eventId === undefined) return
  writeSync(file, `${JSON.stringify({ at: TrueDate.now(), kind: 'answer read', eventId })}\n`)
})
