import { z } from 'zod'
import { Facts } from './facts.ts'
import { FailureCode, MessageId, PageLimit, singleLine, Timestamp } from '../fields.ts'
import { accountInput, viewerQuery } from '../procedure.ts'

export const requestOutcomes = ['succeeded', 'failed', '4xx', '5xx'] as const
export type RequestOutcome = (typeof requestOutcomes)[number]

export const RequestId = singleLine(64).meta({ examples: ['req_019aab34c5d6_9f86d0811x'] })

/** An API request in the log. */
export const ApiRequest = z.object({
  /** As in the response header `X-Request-Id`. */
  requestId: z.string(),
  /** When the request arrived. */
  at: Timestamp,
  method: z.string(),
  /** Without the query string. */
  path: z.string(),
  status: z.int(),
  /** Present only if it failed. `UNKNOWN`: the response has no error code. */
  errorCode: z.string().optional(),
  /** Message of the response, truncated to some hundred characters. Absent if it was not stored. */
  errorMessage: z.string().optional(),
  facts: Facts.optional(),
  durationMilliseconds: z.int(),
  /** The first characters of the API key. */
  keyStart: z.string(),
  /** IP address of the caller. */
  address: z.string(),
  /** Messages that the request sent or, with an idempotency key, replayed. */
  messageIds: z.array(MessageId),
  /** For failures only. */
  externalId: z.string().optional(),
})
export type ApiRequest = z.infer<typeof ApiRequest>

export const ApiRequestPage = z.object({ items: z.array(ApiRequest), nextCursor: z.string().optional() })
export type ApiRequestPage = z.infer<typeof ApiRequestPage>

export const ApiRequestDetails = ApiRequest.extend({
  /** Body or query of a failed request; codes, variables and secrets are redacted. */
  request: z.string().optional(),
  /** Response body of a failed request. */
  answer: z.string().optional(),
})
export type ApiRequestDetails = z.infer<typeof ApiRequestDetails>

const requestFilters = {
  outcome: z.enum(requestOutcomes, `must be one of ${requestOutcomes.join(', ')}`).optional(),
  errorCode: FailureCode.optional(),
  path: singleLine(255).optional().describe('A part of the path.'),
  search: singleLine(255).optional().describe('A request ID, a message ID or an external ID.'),
  from: Timestamp.optional(),
  until: Timestamp.optional(),
}

/** Examines a bounded number of requests, so a page can have fewer items than its limit and still have a next page. */
export const listRequests = viewerQuery({
  summary: 'List API requests, the newest first',
  input: accountInput({
    ...requestFilters,
    cursor: singleLine(1024).optional(),
    limit: PageLimit,
  }),
  output: ApiRequestPage,
})

/** Examines only the newest requests, because counting all of a busy account would take too long. */
export const summarizeRequests = viewerQuery({
  summary: 'Count the API requests that match the filters, and their error codes',
  input: accountInput(requestFilters),
  output: z.object({
    count: z.int(),
    /** False if older requests were not examined; then `count` is a minimum. */
    isComplete: z.boolean(),
    /** The most frequent codes, most frequent first. Ignores the filter by error code. */
    errorCodes: z.array(z.object({ errorCode: z.string(), count: z.int() })),
    /** Minimum number of days for which requests are kept. */
    keptDays: z.int(),
  }),
})
export type RequestSummary = z.infer<(typeof summarizeRequests)['output']>

export const getRequest = viewerQuery({
  summary: 'Read one API request; a failed one with its bodies',
  input: accountInput({ requestId: RequestId }),
  output: ApiRequestDetails,
})
