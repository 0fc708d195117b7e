import type { z } from 'zod'
import { isTransient } from './error-codes.ts'
import type { Exchange } from './exchange.ts'
import { readRefusal } from './refusal.ts'
import { parseJson } from './wire.ts'
import type { ReadOutcome } from './whatsapp.ts'

/** What an exchange says about a read that should answer with `schema`. */
export function readAnswer<T>(exchange: Exchange, schema: z.ZodType<T>, accessToken: string): ReadOutcome<T> {
  if (exchange.kind !== 'answered') return failure(exchange.reason)
  if (exchange.status >= 300) return readFailure(exchange.status, exchange.body, accessToken)
  const parsed = schema.safeParse(exchange.body === undefined ? undefined : parseJson(exchange.body))
  return parsed.success ? { ok: true, value: parsed.data } : failure('an answer that cannot be read')
}

export function failure(reason: string): ReadOutcome<never> {
  return { ok: false, refused: false, accountUnusable: false, reason }
}

function readFailure(status: number, body: string | undefined, accessToken: string): ReadOutcome<never> {
  const refusal = status < 400 ? undefined : readRefusal(status, body, accessToken)
  if (!refusal) return failure(`an unreadable answer with HTTP ${status}`)
  const { verdict, error } = refusal
  return {
    ok: false,
    refused: true,
    accountUnusable: verdict.kind === 'refused' && verdict.accountUnusable === true,
    reason: `WhatsApp refused with code ${error.code}`,
    error,
    ...(isTransient(verdict) && { transient: true }),
  }
}
