import { z } from 'zod'
import { Timestamp } from '../fields.ts'

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
})
export type EndpointFailure = z.infer<typeof EndpointFailure>

/** How to fix the error, by status code. */
const hints: Partial<Record<number, string>> = {
  400: 'check that your application accepts the event',
  401: 'check the signing secret',
  403: 'check the signing secret',
  404: 'check the path of the URL',
  405: 'your application must accept POST requests',
  411: 'check the proxy in front of your application',
  413: 'let your application accept larger requests',
  429: 'limit the deliveries per second',
}

/**
 * Describes in one sentence why an endpoint fails, such as `Answers 401 since 10:32; check the signing secret.`
 * `describeTime` formats a time for use after "since".
 */
export function describeEndpointFailure(failure: EndpointFailure, describeTime: (at: string) => string): string {
  const since = describeTime(failure.since)
  const { text, hint } = describeResponse(failure)
  if (failure.isMixed) return `Failing in several ways since ${since}; last: ${lowerFirst(text)}.`
  return `${text} since ${since}${hint === undefined ? '' : `; ${hint}`}.`
}

function describeResponse({ statusCode, error, durationMilliseconds }: EndpointFailure): {
  text: string
  hint?: string
} {
  if (statusCode !== undefined && error === `HTTP ${statusCode}`) {
    if (statusCode >= 300 && statusCode < 400)
      return { text: `Redirects with ${statusCode}`, hint: 'enter the URL that it redirects to' }
    const hint = hints[statusCode]
    return { text: `Answers ${statusCode}`, ...(hint !== undefined && { hint }) }
  }
  switch (error) {
    case 'connection refused':
      return { text: 'Connection refused' }
    case 'timed out':
      return { text: `Times out after ${describeSeconds(durationMilliseconds)}` }
    case 'the host could not be resolved, or is not public':
      return { text: 'Host not found, or not public,' }
    case 'the host is not reachable':
      return { text: 'Host not reachable' }
    case 'TLS: the certificate has expired':
      return { text: 'TLS certificate expired, failing', hint: 'renew it' }
    case 'TLS: the certificate is for another host':
      return { text: 'TLS certificate is for another host, failing' }
    case 'TLS: the certificate is not trusted':
      return { text: 'TLS certificate not trusted, failing', hint: 'send the whole certificate chain' }
    case 'TLS: no secure connection':
      return { text: 'No secure connection' }
    case 'the connection was lost':
      return { text: 'Connection lost' }
    case 'the connection closed before the response was complete':
      return { text: 'Closes the connection before its answer is complete' }
    case 'the response is not valid HTTP':
      return { text: 'Answers without valid HTTP' }
    default:
      return { text: `Every attempt fails (${error})` }
  }
}

function lowerFirst(text: string): string {
  return text.startsWith('TLS') ? text : text.charAt(0).toLowerCase() + text.slice(1)
}

function describeSeconds(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds / 1000))} s`
}
