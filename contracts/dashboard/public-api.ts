import { z } from 'zod'
import { line, Timestamp } from '../fields.ts'
import { changes } from './changes.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'

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

export const setTemplateChanges = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Let the API key create, change and delete templates, or stop it',
  input: ofAccount({ enabled: z.boolean() }),
  output: z.object({ enabled: z.boolean() }),
  audit: ({ enabled }) => changes.switchTemplateChanges(enabled),
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
  summary: 'Delete the API key: every request is refused until there is a new one',
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
