import { z } from 'zod'
import { deliveryFailures, endpointFacts } from '../facts/deliveries.ts'
import type { Fact, Sentence } from '../facts/fact.ts'
import { Timestamp } from '../fields.ts'
import { Facts } from './facts.ts'

/** How delivery attempts to an endpoint have failed since the last successful one. */
export const EndpointFailure = z.object({
  since: Timestamp,
  /** Status code of the last attempt; absent if there was no complete response. */
  statusCode: z.int().optional(),
  error: z.string(),
  /** Duration of the longest attempt with this error. */
  durationMilliseconds: z.number(),
  /** Whether earlier attempts failed with other errors. */
  isMixed: z.boolean(),
  facts: Facts.optional(),
})
export type EndpointFailure = z.infer<typeof EndpointFailure>

const { hint } = endpointFacts

/** How to fix the error, by status code. */
const hintsByStatus: Partial<Record<number, Fact>> = {
  400: hint.event(),
  401: hint.secret(),
  403: hint.secret(),
  404: hint.path(),
  405: hint.method(),
  411: hint.proxy(),
  413: hint.size(),
  429: hint.rate(),
}

const hintsByCode: Partial<Record<string, Fact>> = {
  [deliveryFailures.certificateExpired().code]: hint.certificate(),
  [deliveryFailures.certificateNotTrusted().code]: hint.chain(),
}

/**
 * Describes why an endpoint fails, such as `Failing since 10:32: HTTP 401; check the signing secret.` `describeTime`
 * formats a time for use after "since".
 */
export function describeEndpointFailure(failure: EndpointFailure, describeTime: (at: string) => string): Fact {
  const since = describeTime(failure.since)
  const error = describeError(failure)
  if (failure.isMixed) return endpointFacts.failingVariously({ since, error })
  const advice = findHint(failure)
  return advice
    ? endpointFacts.failingWithHint({ since, error, hint: advice })
    : endpointFacts.failing({ since, error })
}

function describeError({ error, facts, durationMilliseconds }: EndpointFailure): Sentence {
  if (facts?.['error']?.code !== deliveryFailures.timedOut().code) return facts?.['error'] ?? error
  return endpointFacts.timedOutAfter({ duration: `${Math.max(1, Math.round(durationMilliseconds / 1000))} s` })
}

/** A failure without a fact has only a status code. */
function findHint({ statusCode, facts }: EndpointFailure): Fact | undefined {
  if (facts?.['error']) return hintsByCode[facts['error'].code]
  if (statusCode === undefined) return undefined
  return statusCode >= 300 && statusCode < 400 ? hint.redirect() : hintsByStatus[statusCode]
}
