import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { defaultEventTypes, eventTypes } from '../events.ts'
import { PageLimit, singleLine, textUpTo, Timestamp } from '../fields.ts'
import { changes } from '../facts/changes.ts'
import { readDeliveryFailure } from '../facts/deliveries.ts'
import { type Fact, join } from '../facts/fact.ts'
import { EndpointFailure } from './endpoint-failure.ts'
import { Facts } from './facts.ts'
import { accountInput, dashboardProcedure, ownerChange, viewerQuery } from '../procedure.ts'

const EventTypes = z
  .array(z.enum(eventTypes, `must be an event type: ${eventTypes.join(', ')}`))
  .min(1, problems.noEvents())
  .max(eventTypes.length, problems.atMostEntries({ max: eventTypes.length }))
const EndpointId = singleLine(64)
const ofEndpoint = accountInput({ endpointId: EndpointId })

/** Maximum limits of an endpoint, for all workers together. */
export const endpointLimits = { maxPerSecond: 1_000, maxConcurrent: 1_000 } as const

function limit(max: number) {
  const problem = problems.wholeNumberUpTo({ max })
  return z.int(problem).min(1, problem).max(max, problem)
}
export const MaxPerSecond = limit(endpointLimits.maxPerSecond)
export const MaxConcurrent = limit(endpointLimits.maxConcurrent)

export const Endpoint = z.object({
  endpointId: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  state: z.enum(['enabled', 'disabled']),
  /** Why it is disabled; absent if it is not. */
  reason: z.string().optional(),
  description: z.string().optional(),
  hasHeaders: z.boolean(),
  /** Maximum number of attempts per second; absent if there is no limit. */
  maxPerSecond: z.int().optional(),
  /** Maximum number of concurrent attempts; absent if there is no limit. */
  maxConcurrent: z.int().optional(),
  /** Waiting deliveries and those in progress. */
  waiting: z.int(),
  /** Time of the oldest event that is waiting, or whose delivery failed permanently since `failingSince`; absent if there is none. */
  missedSince: Timestamp.optional(),
  /** Permanently failed deliveries since `failingSince`, among the latest 1,000; absent while the endpoint does not fail. */
  failed: z.int().optional(),
  /** Since when every attempt has failed; absent if the last one succeeded. */
  failingSince: Timestamp.optional(),
  /** How the last attempt failed; absent if it succeeded, or if no attempt since `failingSince` was counted. */
  failure: EndpointFailure.optional(),
  lastDeliveredAt: Timestamp.optional(),
  /** Until when requests are also signed with the previous secret. */
  previousSecretUntil: Timestamp.optional(),
  createdAt: Timestamp,
  facts: Facts.optional(),
})
export type Endpoint = z.infer<typeof Endpoint>

export const Attempt = z.object({
  /** 1 is the first. */
  number: z.int(),
  startedAt: Timestamp,
  durationMilliseconds: z.number(),
  /** Absent if there was no response. */
  statusCode: z.int().optional(),
  /** Why it failed; absent if it succeeded. */
  error: z.string().optional(),
  /**
   * The first bytes of the response body. Hidden from operators who view the account if it can repeat what a recipient
   * wrote.
   */
  responseStart: z.string().optional(),
  facts: Facts.optional(),
})
export type Attempt = z.infer<typeof Attempt>

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

export const Delivery = z.object({
  deliveryId: z.string(),
  eventId: z.string(),
  /** Absent, like `messageId`, if the event is no longer stored. */
  type: z.string().optional(),
  messageId: z.string().optional(),
  state: z.enum(deliveryStates),
  createdAt: Timestamp,
  /** Time of the next attempt; absent if the delivery is finished or the endpoint is disabled. */
  nextAttemptAt: Timestamp.optional(),
  finishedAt: Timestamp.optional(),
  attempts: z.array(Attempt),
})
export type Delivery = z.infer<typeof Delivery>

const HeaderValue = textUpTo(4096)
const Headers = z
  .array(z.strictObject({ name: singleLine(256), value: HeaderValue }))
  .max(20, problems.atMostHeaders({ max: 20 }))

export const listEndpoints = viewerQuery({
  summary: 'List the webhook endpoints, the oldest first',
  output: z.object({ items: z.array(Endpoint) }),
})

export const addEndpoint = ownerChange({
  summary: 'Add a webhook endpoint, and return its signing secret',
  input: accountInput({
    url: singleLine(2048),
    events: EventTypes.default([...defaultEventTypes]),
    description: singleLine(200).optional(),
    headers: Headers.optional(),
    maxPerSecond: MaxPerSecond.optional(),
    maxConcurrent: MaxConcurrent.optional(),
  }),
  output: z.object({ endpointId: z.string(), secret: z.string() }),
  audit: ({ url }) => {
    // The rest of the URL often contains a token.
    const host = hostOf(url)
    return host === undefined ? changes.addEndpoint() : changes.addEndpointAt({ host })
  },
})

/** Omitted fields stay unchanged. The signing secret and the deliveries are kept. */
export const updateEndpoint = ownerChange({
  summary: 'Change the URL, events, description, headers or limits of an endpoint',
  input: accountInput({
    endpointId: EndpointId,
    url: singleLine(2048).optional(),
    events: EventTypes.optional(),
    /** An empty description removes it. */
    description: textUpTo(200).optional(),
    /** Replaces all custom headers. */
    headers: Headers.optional(),
    /** Null removes the limit. */
    maxPerSecond: MaxPerSecond.nullable().optional(),
    maxConcurrent: MaxConcurrent.nullable().optional(),
  }),
  output: Endpoint.extend({
    /** True if the custom headers were removed because the host changed. */
    headersCleared: z.boolean(),
  }),
  // Omits the URL and the header values, which often contain credentials.
  audit: ({ endpointId, ...changed }) => {
    const fields = join(nameChangedFields(changed), changes.list)
    return fields && changes.updateEndpoint({ fields, endpointId })
  },
})

const { field } = changes

/** The changed fields in a fixed order, with values that cannot contain credentials. */
function nameChangedFields(changed: {
  [Name in 'url' | 'events' | 'description' | 'headers' | 'maxPerSecond' | 'maxConcurrent']?: unknown
}): Fact[] {
  const { url, maxPerSecond, maxConcurrent } = changed
  const host = hostOf(url)
  return [
    ...(url === undefined ? [] : [host === undefined ? field.url() : field.urlAt({ host })]),
    ...(changed.events === undefined ? [] : [field.events()]),
    ...(changed.description === undefined ? [] : [field.description()]),
    ...(changed.headers === undefined ? [] : [field.headers()]),
    ...nameLimit(maxPerSecond, field.maxPerSecond, field.maxPerSecondTo),
    ...nameLimit(maxConcurrent, field.maxConcurrent, field.maxConcurrentTo),
  ]
}

function nameLimit(value: unknown, name: () => Fact, nameWith: (params: { limit: number | Fact }) => Fact): Fact[] {
  if (value === undefined) return []
  if (value === null) return [nameWith({ limit: field.noLimit() })]
  return [typeof value === 'number' && Number.isInteger(value) ? nameWith({ limit: value }) : name()]
}

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : undefined
}

export const enableEndpoint = ownerChange({
  summary: 'Enable an endpoint and deliver its waiting events',
  input: ofEndpoint,
  output: Endpoint,
  audit: changes.enableEndpoint,
})

export const disableEndpoint = ownerChange({
  summary: 'Disable an endpoint; its deliveries wait',
  input: ofEndpoint,
  output: Endpoint,
  audit: changes.disableEndpoint,
})

export const removeEndpoint = ownerChange({
  summary: 'Delete an endpoint with its secrets and waiting deliveries',
  input: ofEndpoint,
  /** Number of waiting deliveries that were deleted. */
  output: z.object({ dropped: z.int() }),
  audit: changes.removeEndpoint,
})

/** A mutation, because the audit log records it. */
export const revealSecret = ownerChange({
  summary: 'Show the signing secret of an endpoint',
  input: ofEndpoint,
  output: z.object({ secret: z.string() }),
  audit: changes.revealSecret,
})

export const rotateSecret = ownerChange({
  summary: 'Create a new signing secret; the previous one stays in use for a while',
  input: accountInput({
    endpointId: EndpointId,
    overlapSeconds: z
      .int()
      .min(0)
      .max(30 * 86_400, problems.atMostDays({ max: 30 }))
      .default(86_400),
  }),
  output: z.object({
    secret: z.string(),
    /** Absent if the previous secret was dropped immediately. */
    previousSecretUntil: Timestamp.optional(),
  }),
  audit: changes.rotateSecret,
})

export const testEndpoint = dashboardProcedure({
  kind: 'mutation',
  budget: 'tests',
  allowed: 'owner',
  summary: 'Send a test event to an endpoint, and return its response',
  input: ofEndpoint,
  output: z.object({
    endpointId: z.string(),
    eventId: z.string(),
    delivered: z.boolean(),
    durationMilliseconds: z.number(),
    statusCode: z.int().optional(),
    error: z.string().optional(),
    responseStart: z.string().optional(),
    facts: Facts.optional(),
  }),
  audit: changes.testEndpoint,
})

export const listDeliveries = viewerQuery({
  summary: 'List the deliveries to an endpoint with their attempts, the newest first',
  input: accountInput({
    endpointId: EndpointId,
    state: z.enum(deliveryStates).optional(),
    cursor: singleLine(1024).optional(),
    limit: PageLimit,
  }),
  output: z.object({ items: z.array(Delivery), nextCursor: z.string().optional() }),
})

/** Number and duration of the attempts that ended in a time slot. */
const AttemptCounts = z.object({
  attempts: z.int(),
  /** Attempts that delivered their event. */
  succeeded: z.int(),
  /** Average of all attempts; absent if there were none. */
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

export const listActivity = viewerQuery({
  summary: 'Count the attempts of the last 24 hours at each endpoint',
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
  facts: Facts.optional(),
})
export type FailureGroup = z.infer<typeof FailureGroup>

export const getStatistics = viewerQuery({
  summary: 'Count the attempts to an endpoint over time, and the failed ones by error',
  input: accountInput({ endpointId: EndpointId, range: z.enum(statisticsRanges) }),
  output: Statistics.extend({
    totals: AttemptCounts,
    /** Slots without an attempt are absent. */
    slots: z.array(AttemptSlot),
    /** Most recent first. */
    failures: z.array(FailureGroup),
    /** True if the list of failures is incomplete. */
    hasMoreFailures: z.boolean(),
  }),
})

export const getPayload = viewerQuery({
  // Payloads contain what recipients wrote.
  membersOnly: true,
  summary: 'Read the body that a delivery sends',
  input: accountInput({ deliveryId: singleLine(64) }),
  /** The exact bytes that are signed. */
  output: z.object({ eventId: z.string(), payload: z.string() }),
})

export const retryDelivery = ownerChange({
  summary: 'Deliver one event now, whether its delivery is waiting or finished',
  input: accountInput({ deliveryId: singleLine(64) }),
  /** A disabled endpoint receives the event once it is enabled. */
  output: z.object({
    deliveryId: z.string(),
    endpointId: z.string(),
    eventId: z.string(),
    endpointState: z.enum(['enabled', 'disabled']),
  }),
  audit: changes.retryDelivery,
})

/** Why the last attempt of a delivery failed: the error, such as `HTTP 500` or `timed out`, or the code of its fact. */
export const LastError = singleLine(200)

/** What to redeliver: by default, every event since a given time that the endpoint missed. */
const redelivery = {
  endpointId: EndpointId,
  since: Timestamp,
  /** Only deliveries whose last attempt failed with this error. */
  error: LastError.optional(),
  /** Whether deliveries that wait for their next attempt are also sent now. */
  includeWaiting: z.boolean().optional(),
}

export const countRecoverable = viewerQuery({
  summary: 'Count the events that a recovery would queue',
  input: accountInput(redelivery),
  output: z.object({
    /** Permanently failed deliveries, and events without a delivery. */
    missed: z.int(),
    /** Deliveries that wait for their next attempt; 0 unless they are included. */
    waiting: z.int(),
    /** True if only the first events were counted; there may be more. */
    isPartial: z.boolean(),
  }),
})

/**
 * Queues one part of a recovery, so that the caller can show progress: call again with `next` until it is absent. An
 * interrupted recovery can be restarted.
 */
export const recoverDeliveries = ownerChange({
  summary: 'Redeliver events that an endpoint missed since a given time',
  input: accountInput({ ...redelivery, next: singleLine(1024).optional() }),
  output: z.object({
    /** How many deliveries this part queued. */
    recovered: z.int(),
    /** Time of the last event that was examined. */
    reachedAt: Timestamp,
    next: z.string().optional(),
  }),
  // Recorded once, with the first part.
  audit: ({ endpointId, since, error, next }) =>
    next === undefined ? describeRecovery({ endpointId, since, error }) : undefined,
})

function describeRecovery({
  endpointId,
  since: at,
  error,
}: {
  endpointId: string
  since: string
  error?: string | undefined
}): Fact {
  const about = { endpointId, since: { at, english: at } }
  return error === undefined
    ? changes.recoverDeliveries(about)
    : changes.recoverFailures({ ...about, error: readDeliveryFailure(error) })
}
