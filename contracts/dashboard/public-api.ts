import { z } from 'zod'
import { line, Timestamp } from '../fields.ts'
import { changes } from './changes.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'

/** Contents are never kept longer than their messages (`WAYBILL_RETENTION_DAYS`). */
export const maxContentsDays = 365

export const ApiAccess = z.object({
  enabled: z.boolean(),
  /** Absent when there is no key. */
  key: z
    .object({
      /** The first characters: all that is known of it. */
      start: z.string(),
      createdAt: Timestamp,
      /** The minute of the last send since it was made, tests in the dashboard included; absent when none is known. */
      lastUsedAt: Timestamp.optional(),
    })
    .optional(),
  allowList: z.array(z.string()),
  /** Whether the key may create, change and delete templates. */
  templateChanges: z.boolean(),
  /** For how many days the contents of messages are stored; absent if they are not stored. */
  messageContentsDays: z.int().optional(),
  rateLimit: z.object({
    /** Sends per minute. */
    limit: z.int(),
    /** Spent in the running minute. */
    used: z.int(),
  }),
  /** Whether this very request's address may call, and what it is. */
  you: z.object({ address: z.string(), allowed: z.boolean() }),
})

/** A key at the one moment when it can be read (spec, Authentication, 3). */
export const IssuedKey = z.object({
  apiKey: z.string(),
  /** The first characters, by which the key is known from now on. */
  start: z.string(),
  createdAt: Timestamp,
})
export type IssuedKey = z.infer<typeof IssuedKey>

export const getApiAccess = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read the state of the API key, the allow-list and the rate limit',
  input: ofAccount({}),
  output: ApiAccess,
})

export const RecentUse = z.object({
  /** From when on the calls were examined: a day ago, or later if there were many. */
  since: Timestamp,
  /** The IP addresses that called the API and were not rejected by the allow-list, the most frequent first. */
  addresses: z.array(z.string()),
  /** The minute with the most sends by the API; absent if there were none. */
  highestMinute: z.object({ at: Timestamp, sends: z.int() }).optional(),
  /** How many calls were answered with 429. */
  rejected: z.int(),
})
export type RecentUse = z.infer<typeof RecentUse>

/** From the log of API requests, of which a bounded number is examined. */
export const getRecentUse = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read which addresses called the API in the last 24 hours, and how close to the rate limit they came',
  input: ofAccount({}),
  output: RecentUse,
})

export const setTemplateChanges = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Let the API key create, change and delete templates, or stop it',
  input: ofAccount({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => changes.switchTemplateChanges(enabled),
})

export const setMessageContents = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Store what messages say for some days, or stop and delete what is stored',
  input: ofAccount({
    /** Null stops it. */
    keptDays: z.int().min(1).max(maxContentsDays).nullable(),
  }),
  output: z.object({ keptDays: z.int().nullable() }),
  audit: ({ keptDays }) => changes.setMessageContents(keptDays),
})

export const generateKey = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Generate the API key, and show it once',
  input: ofAccount({}),
  output: IssuedKey,
  audit: changes.generateKey,
})

export const regenerateKey = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Replace the API key: the old one is useless at once',
  input: ofAccount({}),
  output: IssuedKey,
  audit: changes.regenerateKey,
})

export const revokeKey = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Delete the API key: every request is rejected until there is a new one',
  input: ofAccount({}),
  output: z.object({ revoked: z.boolean() }),
  audit: changes.revokeKey,
})

export const setAccess = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Switch API access on or off',
  input: ofAccount({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => changes.switchApi(enabled),
})

export const setAllowList = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Replace the IP allow-list; an empty one lets every address call',
  input: ofAccount({ allowList: z.array(line(64)).max(200, 'must have at most 200 entries') }),
  output: z.object({ allowList: z.array(z.string()) }),
  audit: ({ allowList }) => changes.setAllowList(allowList),
})
