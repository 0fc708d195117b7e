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

/** What to do first, by status code. */
const hintsByStatus: Partial<Record<number, Fact>> = {
  400: hint.event(),
  401: hint.secret(),
  403: hint.secret(),
  404: hint.path(),
  405: hint.method(),
  411: hint.proxy(),
  413: hint.size(),
  429: hint.rate(),
  502: hint.proxy(),
  503: hint.proxy(),
  504: hint.proxy(),
}

const hintsByCode: Partial<Record<string, Fact>> = {
  [deliveryFailures.unusableHost().code]: hint.name(),
  [deliveryFailures.addressNotAllowed().code]: hint.address(),
  [deliveryFailures.connectionRefused().code]: hint.start(),
  [deliveryFailures.timedOut().code]: hint.slow(),
  [deliveryFailures.unreachable().code]: hint.network(),
  [deliveryFailures.proxyFailed().code]: hint.outboundProxy(),
  [deliveryFailures.certificateExpired().code]: hint.certificate(),
  [deliveryFailures.certificateOfAnotherHost().code]: hint.host(),
  [deliveryFailures.certificateNotTrusted().code]: hint.chain(),
  [deliveryFailures.certificateNotYetValid().code]: hint.validity(),
  [deliveryFailures.outdatedTls().code]: hint.tls(),
  [deliveryFailures.noHttp1().code]: hint.http1(),
  [deliveryFailures.handshakeRejected().code]: hint.handshake(),
  [deliveryFailures.notSecure().code]: hint.https(),
  [deliveryFailures.headersTooLarge().code]: hint.headers(),
  [deliveryFailures.unreadableSecret().code]: hint.operator(),
  [deliveryFailures.unreadableHeaders().code]: hint.operator(),
  [deliveryFailures.notHttp().code]: hint.http(),
  [deliveryFailures.incompleteResponse().code]: hint.log(),
  [deliveryFailures.connectionLost().code]: hint.log(),
}

/**
 * Describes why an endpoint fails, such as `Failing since 10:32: HTTP 401; check the signing secret.` `describeTime`
 * formats a time for use after "since".
 */
export function describeEndpointFailure(failure: EndpointFailure, describeTime: (at: string) => string): Fact {
  const since = describeTime(failure.since)
  const error = describeError(failure)
  const advice = findHint(failure)
  const [plain, withHint] = failure.isMixed
    ? [endpointFacts.failingVariously, endpointFacts.failingVariouslyWithHint]
    : [endpointFacts.failing, endpointFacts.failingWithHint]
  return advice ? withHint({ since, error, hint: advice }) : plain({ since, error })
}

function describeError({ error, facts, durationMilliseconds }: EndpointFailure): Sentence {
  if (facts?.['error']?.code !== deliveryFailures.timedOut().code) return facts?.['error'] ?? error
  return endpointFacts.timedOutAfter({ duration: `${Math.max(1, Math.round(durationMilliseconds / 1000))} s` })
}

/** A failure without a fact has only a status code. */
function findHint({ statusCode, facts }: EndpointFailure): Fact | undefined {
  if (facts?.['error']) return hintsByCode[facts['error'].code]
  if (statusCode === undefined) return undefined
  return hintsByStatus[statusCode] ?? (statusCode >= 300 && statusCode < 400 ? hint.redirect() : hint.log())
}
