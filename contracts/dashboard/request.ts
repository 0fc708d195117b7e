import { z } from 'zod'
import { Cursor, FailureCode, line, MessageId, PageLimit, Timestamp } from '../fields.ts'
import { dashboardProcedure, ofAccount } from '../procedure.ts'

export const requestOutcomes = ['succeeded', 'failed', '4xx', '5xx'] as const
export type RequestOutcome = (typeof requestOutcomes)[number]

export const RequestId = line(64).meta({ examples: ['req_019aab34c5d6_9f86d0811x'] })

/** A call of the API. */
export const ApiRequest = z.object({
  /** As in the header `X-Request-Id` of the answer. */
  requestId: z.string(),
  /** When it arrived. */
  at: Timestamp,
  method: z.string(),
  /** Without the query. */
  path: z.string(),
  status: z.int(),
  /** Present only if it failed. `UNKNOWN`: the answer has no code of ours. */
  errorCode: z.string().optional(),
  /** What the response said, cut after some hundred characters. Absent if it was not kept. */
  errorMessage: z.string().optional(),
  durationMilliseconds: z.int(),
  /** The first characters of the API key. */
  keyStart: z.string(),
  /** IP address of the caller. */
  address: z.string(),
  /** The messages that it caused or, with an idempotency key, repeated. */
  messageIds: z.array(MessageId),
  /** Of failures only. */
  externalId: z.string().optional(),
})
export type ApiRequest = z.infer<typeof ApiRequest>

export const ApiRequestPage = z.object({ items: z.array(ApiRequest), nextCursor: z.string().optional() })
export type ApiRequestPage = z.infer<typeof ApiRequestPage>

export const ApiRequestDetails = ApiRequest.extend({
  /** The body or the query of a failure; codes, variables and secrets are hidden. */
  request: z.string().optional(),
  /** The body of the answer to a failure. */
  answer: z.string().optional(),
})
export type ApiRequestDetails = z.infer<typeof ApiRequestDetails>

const requestFilters = {
  outcome: z.enum(requestOutcomes, `must be one of ${requestOutcomes.join(', ')}`).optional(),
  errorCode: FailureCode.optional(),
  path: line(255).optional().describe('A part of the path.'),
  search: line(255).optional().describe('A request ID, a message ID or an external ID.'),
  from: Timestamp.optional(),
  until: Timestamp.optional(),
}

/** Examines a bounded number of requests: a page can have fewer items than its limit and still a next page. */
export const listRequests = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List API requests, the newest first',
  input: ofAccount({
    ...requestFilters,
    cursor: Cursor.optional(),
    limit: PageLimit,
  }),
  output: ApiRequestPage,
})

/** Examines the newest requests only, so that a busy account does not count all of its own. */
export const summarizeRequests = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count the API requests that match the filters, and their error codes',
  input: ofAccount(requestFilters),
  output: z.object({
    count: z.int(),
    /** False if there are older requests that were not examined: then there are at least so many. */
    isComplete: z.boolean(),
    /** The most frequent codes whatever the filter of the code, the most frequent first. */
    errorCodes: z.array(z.object({ errorCode: z.string(), count: z.int() })),
    /** For how many days requests are kept at least. Absent if this server does not say. */
    keptDays: z.int().optional(),
  }),
})
export type RequestSummary = z.infer<(typeof summarizeRequests)['output']>

export const getRequest = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read one API request with the bodies of a failure',
  input: ofAccount({ requestId: RequestId }),
  output: ApiRequestDetails,
})
