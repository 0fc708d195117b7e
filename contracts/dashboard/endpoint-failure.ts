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
const hintsByStatus: Partial<Record<number, string>> = {
  400: 'check that your application accepts the event',
  401: 'check the signing secret',
  403: 'check the signing secret',
  404: 'check the path of the URL',
  405: 'your application must accept POST requests',
  411: 'check the proxy in front of your application',
  413: 'let your application accept larger requests',
  429: 'limit the deliveries per second',
}

const hintsByError: Partial<Record<string, string>> = {
  'TLS: the certificate has expired': 'renew the certificate',
  'TLS: the certificate is not trusted': 'send the whole certificate chain',
}

/**
 * Describes why an endpoint fails, such as `Failing since 10:32: HTTP 401; check the signing secret.` `describeTime`
 * formats a time for use after "since".
 */
export function describeEndpointFailure(failure: EndpointFailure, describeTime: (at: string) => string): string {
  const since = describeTime(failure.since)
  const error = describeError(failure)
  if (failure.isMixed) return `Failing in several ways since ${since}. Last error: ${error}.`
  const hint = findHint(failure)
  return `Failing since ${since}: ${error}${hint === undefined ? '' : `; ${hint}`}.`
}

function describeError({ error, durationMilliseconds }: EndpointFailure): string {
  return error === 'timed out' ? `timed out after ${describeSeconds(durationMilliseconds)}` : error
}

function findHint({ statusCode, error }: EndpointFailure): string | undefined {
  if (statusCode === undefined || error !== `HTTP ${statusCode}`) return hintsByError[error]
  return statusCode >= 300 && statusCode < 400 ? 'enter the URL that it redirects to' : hintsByStatus[statusCode]
}

function describeSeconds(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds / 1000))} s`
}
