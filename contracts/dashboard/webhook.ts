import { z } from 'zod'
import { defaultEventTypes, eventTypes } from '../events.ts'
import { line, PageLimit, Timestamp } from '../fields.ts'
import { changes } from './changes.ts'
import { EndpointFailure } from './endpoint-failure.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'

const EventType = z.enum(eventTypes)
const EndpointId = line(64)
const ofEndpoint = ofAccount({ endpointId: EndpointId })

/** Limits of an endpoint, over all workers. */
export const endpointLimits = { maxPerSecond: 1_000, maxConcurrent: 1_000 } as const

function limit(max: number) {
  const problem = `must be a whole number from 1 to ${max}`
  return z.int(problem).min(1, problem).max(max, problem)
}
export const MaxPerSecond = limit(endpointLimits.maxPerSecond)
export const MaxConcurrent = limit(endpointLimits.maxConcurrent)

export const Endpoint = z.object({
  endpointId: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  state: z.enum(['enabled', 'disabled']),
  /** Why it is disabled; absent when it is not. */
  reason: z.string().optional(),
  description: z.string().optional(),
  hasHeaders: z.boolean(),
  /** Maximum number of attempts per second; absent if there is no limit. */
  maxPerSecond: z.int().optional(),
  /** Maximum number of concurrent attempts; absent if there is no limit. */
  maxConcurrent: z.int().optional(),
  /** Deliveries that wait or are under way. */
  waiting: z.int(),
  /** Time of the oldest event that waits, or whose delivery failed for good since the endpoint fails; absent if there is none. */
  missedSince: Timestamp.optional(),
  /** Deliveries that failed for good since the endpoint fails, of its latest 1,000; absent while it does not fail. */
  failed: z.int().optional(),
  /** Since when every attempt has failed; absent while the last one succeeded. */
  failingSince: Timestamp.optional(),
  /** How the last attempt failed; absent while none fails, and if no attempt since then is counted. */
  failure: EndpointFailure.optional(),
  lastDeliveredAt: Timestamp.optional(),
  /** Until when the secret before the last rotation signs too. */
  previousSecretUntil: Timestamp.optional(),
  createdAt: Timestamp,
})
export type Endpoint = z.infer<typeof Endpoint>

export const Attempt = z.object({
  /** 1 is the first. */
  number: z.int(),
  startedAt: Timestamp,
  durationMilliseconds: z.number(),
  /** Absent when no answer came. */
  statusCode: z.int().optional(),
  /** Why it failed; absent when it did not. */
  error: z.string().optional(),
  /** The first bytes of the answer. */
  responseStart: z.string().optional(),
})
export type Attempt = z.infer<typeof Attempt>

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

export const Delivery = z.object({
  deliveryId: z.string(),
  eventId: z.string(),
  /** Absent, as is `messageId`, when the event is no longer kept. */
  type: z.string().optional(),
  messageId: z.string().optional(),
  state: z.enum(deliveryStates),
  createdAt: Timestamp,
  /** When it is tried next; absent when it is finished, or its endpoint disabled. */
  nextAttemptAt: Timestamp.optional(),
  finishedAt: Timestamp.optional(),
  attempts: z.array(Attempt),
})
export type Delivery = z.infer<typeof Delivery>

export const listEndpoints = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List the webhook endpoints, the oldest first',
  input: ofAccount({}),
  output: z.object({ items: z.array(Endpoint) }),
})

export const addEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Add a webhook endpoint, and get the secret that signs for it',
  input: ofAccount({
    url: line(2048),
    events: z
      .array(EventType)
      .min(1, 'must name at least one event')
      .default([...defaultEventTypes]),
    description: line(200).optional(),
    maxPerSecond: MaxPerSecond.optional(),
    maxConcurrent: MaxConcurrent.optional(),
  }),
  output: z.object({ endpointId: z.string(), secret: z.string() }),
  // Without the URL: its query often holds a token.
  audit: changes.addEndpoint,
})

const HeaderValue = z.string().max(4096, 'must have at most 4096 characters')

/** Fields that are left out stay as they are. The signing secret and the deliveries are kept. */
export const updateEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Change the URL, events, description, headers or limits of an endpoint',
  input: ofAccount({
    endpointId: EndpointId,
    url: line(2048).optional(),
    events: z.array(EventType).min(1, 'must name at least one event').optional(),
    /** Empty: removes it. */
    description: z.string().max(200, 'must have at most 200 characters').optional(),
    /** Replaces all custom headers. */
    headers: z
      .array(z.strictObject({ name: line(256), value: HeaderValue }))
      .max(20, 'must have at most 20 headers')
      .optional(),
    /** Null: removes the limit. */
    maxPerSecond: MaxPerSecond.nullable().optional(),
    maxConcurrent: MaxConcurrent.nullable().optional(),
  }),
  output: Endpoint.extend({
    /** True if the custom headers were removed because the host changed. */
    headersCleared: z.boolean(),
  }),
  // Without the URL and the headers, which often hold credentials.
  audit: ({ endpointId, ...changed }) => changes.updateEndpoint(endpointId, nameEndpointFields(changed)),
})

const fieldNames = {
  url: 'the URL',
  events: 'the events',
  description: 'the description',
  headers: 'the headers',
  maxPerSecond: 'the deliveries per second',
  maxConcurrent: 'the concurrent requests',
}
type FieldName = keyof typeof fieldNames

/** Names of the fields that are given, for the audit log, with the values that hold no credential. */
export function nameEndpointFields(changed: Partial<Record<FieldName, unknown>>): string[] {
  return Object.entries(fieldNames).flatMap(([field, name]) => {
    const value = changed[field as FieldName]
    return value === undefined ? [] : [`${name}${describeValue(field as FieldName, value)}`]
  })
}

function describeValue(field: FieldName, value: unknown): string {
  switch (field) {
    case 'url':
      return typeof value === 'string' && URL.canParse(value) ? ` to ${new URL(value).host}` : ''
    case 'maxPerSecond':
    case 'maxConcurrent':
      return value === null
        ? ' to no limit'
        : typeof value === 'number' && Number.isInteger(value)
          ? ` to ${value}`
          : ''
    case 'events':
    case 'description':
    case 'headers':
      return ''
  }
}

export const enableEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Deliver to an endpoint again; what waited goes now',
  input: ofEndpoint,
  output: Endpoint,
  audit: ({ endpointId }) => changes.enableEndpoint(endpointId),
})

export const disableEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Let the deliveries to an endpoint wait',
  input: ofEndpoint,
  output: Endpoint,
  audit: ({ endpointId }) => changes.disableEndpoint(endpointId),
})

export const removeEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Forget an endpoint, its secrets and what waits for it',
  input: ofEndpoint,
  /** How many deliveries waited for it, and are gone. */
  output: z.object({ dropped: z.int() }),
  audit: ({ endpointId }) => changes.removeEndpoint(endpointId),
})

/** A mutation, since it is written down who saw it. */
export const revealSecret = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Show the secret that signs for an endpoint',
  input: ofEndpoint,
  output: z.object({ secret: z.string() }),
  audit: ({ endpointId }) => `revealed the secret of ${endpointId}`,
})

export const rotateSecret = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Make a new secret; the one before signs too for a while',
  input: ofAccount({
    endpointId: EndpointId,
    overlapSeconds: z
      .int()
      .min(0)
      .max(30 * 86_400, 'must be at most 30 days')
      .default(86_400),
  }),
  output: z.object({
    secret: z.string(),
    /** Absent when the one before stopped at once. */
    previousSecretUntil: Timestamp.optional(),
  }),
  audit: ({ endpointId }) => changes.rotateSecret(endpointId),
})

export const testEndpoint = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Send a test event to an endpoint, and see what it answers',
  input: ofEndpoint,
  output: z.object({
    eventId: z.string(),
    delivered: z.boolean(),
    durationMilliseconds: z.number(),
    statusCode: z.int().optional(),
    error: z.string().optional(),
    responseStart: z.string().optional(),
  }),
  audit: ({ endpointId }) => changes.testEndpoint(endpointId),
})

export const listDeliveries = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List the deliveries to an endpoint with their attempts, the newest first',
  input: ofAccount({
    endpointId: EndpointId,
    state: z.enum(deliveryStates).optional(),
    cursor: line(1024).optional(),
    limit: PageLimit,
  }),
  output: z.object({ items: z.array(Delivery), nextCursor: z.string().optional() }),
})

/** How many attempts ended in a slot of time, and how long they took. */
const AttemptCounts = z.object({
  attempts: z.int(),
  /** Attempts that delivered their event. */
  succeeded: z.int(),
  /** Over all attempts; absent if there were none. */
  averageMilliseconds: z.number().optional(),
  slowestMilliseconds: z.number().optional(),
})

const AttemptSlot = AttemptCounts.extend({ startAt: Timestamp })
export type AttemptSlot = z.infer<typeof AttemptSlot>

export const statisticsRanges = ['24h', '7d'] as const

const Statistics = z.object({
  /** Start of the first slot. */
  from: Timestamp,
  until: Timestamp,
  slotSeconds: z.int(),
})

export const listActivity = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count the attempts of the last 24 hours at each endpoint',
  input: ofAccount({}),
  output: Statistics.extend({
    /** Endpoints without an attempt are absent. */
    items: z.array(AttemptCounts.extend({ endpointId: z.string(), slots: z.array(AttemptSlot) })),
  }),
})

/** Attempts that failed in the same way. */
const FailureGroup = z.object({
  /** Such as `HTTP 500` or `timed out`. */
  error: z.string(),
  attempts: z.int(),
  firstAt: Timestamp,
  lastAt: Timestamp,
})
export type FailureGroup = z.infer<typeof FailureGroup>

export const getStatistics = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count the attempts at an endpoint over time, and the failed ones by answer',
  input: ofAccount({ endpointId: EndpointId, range: z.enum(statisticsRanges) }),
  output: Statistics.extend({
    totals: AttemptCounts,
    /** Slots without an attempt are absent. */
    slots: z.array(AttemptSlot),
    /** The latest first. */
    failures: z.array(FailureGroup),
    /** True if there are more kinds of failures than are listed. */
    hasMoreFailures: z.boolean(),
  }),
})

export const getPayload = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read the body that a delivery sends',
  input: ofAccount({ deliveryId: line(64) }),
  /** As it is signed, byte for byte. */
  output: z.object({ eventId: z.string(), payload: z.string() }),
})

export const retryDelivery = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Deliver one event now: one that waits, or one that is finished, again',
  input: ofAccount({ deliveryId: line(64) }),
  /** A disabled endpoint gets it once it is enabled. */
  output: z.object({ deliveryId: z.string(), endpointState: z.enum(['enabled', 'disabled']) }),
  audit: ({ deliveryId }) => changes.retryDelivery(deliveryId),
})

/** Why the last attempt of a delivery failed, such as `HTTP 500` or `timed out`. */
export const LastError = line(200)

/** What is redelivered: by default, all that the endpoint should have got since the time and did not. */
const redelivery = {
  endpointId: EndpointId,
  since: Timestamp,
  /** Only deliveries whose last attempt failed with this error. */
  error: LastError.optional(),
  /** Deliveries that wait for their next attempt are sent now, too. */
  includeWaiting: z.boolean().optional(),
}

export const countRecoverable = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count what a recovery would queue',
  input: ofAccount(redelivery),
  output: z.object({
    /** Deliveries that failed for good, and events without a delivery. */
    missed: z.int(),
    /** Deliveries that wait for their next attempt; 0 unless they are included. */
    waiting: z.int(),
    /** True if only the first events were counted, so that there may be more. */
    isPartial: z.boolean(),
  }),
})

/**
 * One part of a recovery at a time, so that the caller sees the progress: call again with `next` until
 * there is none. Stopped in the middle, it can be begun anew.
 */
export const recoverDeliveries = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Queue what an endpoint should have got since a time and did not',
  input: ofAccount({ ...redelivery, next: line(1024).optional() }),
  output: z.object({
    /** How many deliveries this part queued. */
    recovered: z.int(),
    /** Up to when events were looked at. */
    reachedAt: Timestamp,
    next: z.string().optional(),
  }),
  // Once, however many parts it has.
  audit: ({ endpointId, since, error, next }) =>
    next === undefined ? changes.recoverDeliveries(endpointId, since, error) : undefined,
})
