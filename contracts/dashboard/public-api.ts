import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { singleLine, Timestamp } from '../fields.ts'
import { changes, contentsChange, switches } from '../facts/changes.ts'
import { accountInput, ownerChange, viewerQuery } from '../procedure.ts'

/** Contents are never stored longer than their messages (`WAYBILL_RETENTION_DAYS`). */
export const maxContentsDays = 365

export const ApiAccess = z.object({
  enabled: z.boolean(),
  /** Absent when there is no key. */
  key: z
    .object({
      /** The first characters of the key, the only part that is stored readably. */
      start: z.string(),
      createdAt: Timestamp,
      /** The minute of the last send since the key was created, including tests in the dashboard; absent if there is none. */
      lastUsedAt: Timestamp.optional(),
      /**
       * If there is no `lastUsedAt`: the minute of the last send of the account. It began before the key was created, and may
       * have ended after.
       */
      earlierUseAt: Timestamp.optional(),
    })
    .optional(),
  allowList: z.array(z.string()),
  /** Whether the key may create, change and delete templates. */
  templateChanges: z.boolean(),
  /** Whether `/mcp` serves the account. */
  mcp: z.boolean(),
  /** For how many days the contents of messages are stored; absent if they are not stored. */
  messageContentsDays: z.int().optional(),
  rateLimit: z.object({
    /** Sends per minute. */
    limit: z.int(),
    /** Sends in the current minute. */
    used: z.int(),
  }),
  /** The address of this request, and whether the allow-list contains it. */
  you: z.object({ address: z.string(), allowed: z.boolean() }),
})

/** A new key, which is shown only once. */
export const IssuedKey = z.object({
  apiKey: z.string(),
  /** The first characters, which identify the key from now on. */
  start: z.string(),
  createdAt: Timestamp,
})
export type IssuedKey = z.infer<typeof IssuedKey>

export const getApiAccess = viewerQuery({
  summary: 'Read the state of the API key, the allow-list and the rate limit',
  output: ApiAccess,
})

export const RecentUse = z.object({
  /** Start of the examined period: a day ago, or later if there were many requests. */
  since: Timestamp,
  /** IP addresses whose requests the allow-list did not reject, most frequent first. */
  addresses: z.array(z.string()),
  /** The minute with the most send requests by the API, failed ones included; absent if there were none. */
  highestMinute: z.object({ at: Timestamp, sends: z.int() }).optional(),
  /** Requests answered with 429, by who refused them. */
  rejected: z.object({
    /** The rate limit of this account. */
    rateLimit: z.int(),
    /** The limits for one-time codes of this account. */
    codeLimit: z.int(),
    /** WhatsApp throttled the number. */
    whatsApp: z.int(),
  }),
})
export type RecentUse = z.infer<typeof RecentUse>

/** Examines a bounded number of entries in the API request log. */
export const getRecentUse = viewerQuery({
  summary: 'Read which addresses called the API in the last 24 hours, and how close to the rate limit they came',
  output: RecentUse,
})

export const setTemplateChanges = ownerChange({
  summary: 'Set whether the API key can create, change and delete templates',
  input: accountInput({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => switches.templateChanges(enabled),
})

export const setMcp = ownerChange({
  summary: 'Set whether AI assistants can use the API key at /mcp',
  input: accountInput({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => switches.mcp(enabled),
})

export const setMessageContents = ownerChange({
  summary: 'Store message contents for some days, or stop storing and delete them',
  input: accountInput({
    /** Null: store no contents. */
    keptDays: z.int().min(1).max(maxContentsDays).nullable(),
  }),
  output: z.object({ keptDays: z.int().nullable() }),
  audit: ({ keptDays }) => contentsChange(keptDays),
})

export const generateKey = ownerChange({
  summary: 'Generate the API key, and show it once',
  output: IssuedKey,
  audit: changes.generateKey,
})

export const regenerateKey = ownerChange({
  summary: 'Replace the API key: the old one stops working immediately',
  output: IssuedKey,
  audit: changes.regenerateKey,
})

export const revokeKey = ownerChange({
  summary: 'Delete the API key: every request is rejected until there is a new one',
  output: z.object({ revoked: z.boolean() }),
  audit: changes.revokeKey,
})

export const setAccess = ownerChange({
  summary: 'Enable or disable API access',
  input: accountInput({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => switches.api(enabled),
})

const AllowListEntries = z.array(singleLine(64)).max(200, problems.atMostEntries({ max: 200 }))

export const setAllowList = ownerChange({
  summary: 'Replace the IP allow-list; an empty list allows every address',
  input: accountInput({
    allowList: AllowListEntries,
    /** The list as it was read. If it has changed since, it is not replaced. */
    replaces: AllowListEntries.optional(),
  }),
  output: z.object({ allowList: z.array(z.string()) }),
  audit: ({ allowList: entries }) =>
    entries.length === 0 ? changes.emptyAllowList() : changes.setAllowList({ entries: entries.join(', ') }),
})
