import type { Procedure } from '../../contracts/procedure.ts'
import type { CallCost, Meter } from './meter.ts'

/** Milliseconds of a call that no rate limit counts, such as a preview: mostly its statements and its answer. */
export const workOfCall = 0.2

/**
 * What a call costs before its body is parsed. Sends have a limit per minute. Procedures that call WhatsApp have one
 * too, and would occupy a place for as long as WhatsApp takes.
 */
export function costOf({ kind, ...contract }: Procedure, bytes: number): CallCost {
  const isSend = contract.audience === 'api' && contract.rateLimited
  const counted = kind === 'mutation' && !isSend && !contract.callsWhatsApp
  return { bytes, work: isSend ? 0 : workOfCall, counted }
}

/** One call of an authenticated caller. */
export interface MeteredCall<Input> {
  /** Whose meter counts the call: the account, or the user or network of a call without one. */
  key: string
  cost: CallCost
  /** Whether a batch has entered with the cost of all its calls. */
  isPaid?: boolean
  /** Decodes and validates the input. */
  parse: () => Promise<Input> | Input
}

/** The steps that all doors share: meter, parse, handle. */
export async function runMetered<Input, Output>(
  meter: Meter,
  { key, cost, isPaid = false, parse }: MeteredCall<Input>,
  handle: (input: Input) => Promise<Output>,
): Promise<Output> {
  const waiting = isPaid && !cost.counted ? undefined : meter.enter(key, isPaid ? onlyCounted : cost)
  if (waiting) await waiting
  try {
    const parsing = measure(meter, key, parse)
    return await handle(parsing instanceof Promise ? await parsing : parsing)
  } finally {
    if (cost.counted) meter.leave(key)
  }
}

const onlyCounted: CallCost = { bytes: 0, work: 0, counted: true }

/** Charges the account for synchronous work. */
export function measure<Result>(meter: Meter, key: string, work: () => Result): Result {
  const startedAt = performance.now()
  try {
    return work()
  } finally {
    meter.charge(key, performance.now() - startedAt)
  }
}
