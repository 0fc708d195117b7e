import { z } from 'zod'
import { Facts } from './facts.ts'
import { singleLine, Timestamp } from '../fields.ts'
import { accountInput, operatorProcedure } from '../procedure.ts'
import { changes } from '../facts/changes.ts'
import { Email } from './user.ts'

/** An account in the operator console. */
export const ConsoleAccount = z.object({
  accountId: z.string(),
  name: z.string(),
  createdAt: Timestamp,
  /** Absent if the account is not suspended. */
  suspendedAt: Timestamp.optional(),
  /** Whether API access is enabled. */
  apiEnabled: z.boolean(),
  whatsAppAccounts: z.object({
    total: z.int(),
    /** Those that are inactive or have a problem. */
    withProblems: z.int(),
  }),
  /** Messages of the last 24 hours, counted in 15-minute intervals. */
  messages: z.object({ total: z.int(), failed: z.int() }),
  endpoints: z.object({
    total: z.int(),
    /** Those whose last attempt failed. */
    failing: z.int(),
    /** How long the oldest due delivery has waited; absent if none is due. */
    lagSeconds: z.number().optional(),
  }),
})
export type ConsoleAccount = z.infer<typeof ConsoleAccount>

/** `failed`: most failed messages first. `lag`: longest delivery lag first. */
export const accountOrders = ['newest', 'failed', 'lag'] as const
export type AccountOrder = (typeof accountOrders)[number]

export const listAccounts = operatorProcedure({
  kind: 'query',
  summary: 'List the accounts of this server with their health',
  input: z.strictObject({
    /** Part of a name, or an account ID. */
    search: singleLine(200).optional(),
    order: z.enum(accountOrders).default('newest'),
    cursor: singleLine(64).optional(),
    limit: z.int().min(1).max(50).default(25),
  }),
  output: z.object({ items: z.array(ConsoleAccount), nextCursor: z.string().optional() }),
})

export const createAccount = operatorProcedure({
  kind: 'mutation',
  summary: 'Create an account, and invite its first owner',
  input: z.strictObject({ name: singleLine(200), ownerEmail: Email.optional() }),
  output: z.object({
    accountId: z.string(),
    name: z.string(),
    /** The invitation link, if this server sends no email. It cannot be shown again. */
    invitationLink: z.string().optional(),
  }),
  audit: 'by handler',
})

export const suspendAccount = operatorProcedure({
  kind: 'mutation',
  summary: 'Suspend an account: its API key and all its sends are rejected',
  input: accountInput({}),
  output: z.object({ suspendedAt: Timestamp.optional() }),
  audit: changes.suspendAccountAsOperator,
})

export const resumeAccount = operatorProcedure({
  kind: 'mutation',
  summary: 'Resume a suspended account',
  input: accountInput({}),
  output: z.object({ suspendedAt: Timestamp.optional() }),
  audit: changes.resumeAccountAsOperator,
})

export const viewAccount = operatorProcedure({
  kind: 'mutation',
  summary: 'View an account for an hour in this session; its audit log records this',
  input: accountInput({}),
  output: z.object({ expiresAt: Timestamp }),
  audit: changes.viewAccount,
})

export const closeAccountView = operatorProcedure({
  kind: 'mutation',
  summary: 'Stop viewing an account',
  input: accountInput({}),
  output: z.object({ closed: z.literal(true) }),
  audit: changes.endView,
})

/** Periodic work of a process. */
export const Job = z.object({
  name: z.string(),
  facts: Facts.optional(),
  everySeconds: z.int(),
  /** When it last started; absent if it has not run since the process started. */
  lastRunAt: Timestamp.optional(),
  lastMilliseconds: z.int().optional(),
  runs: z.int(),
  failures: z.int(),
  lastFailureAt: Timestamp.optional(),
})
export type Job = z.infer<typeof Job>

export const ServerProcess = z.object({
  id: z.string(),
  version: z.string(),
  role: z.string(),
  host: z.string(),
  startedAt: Timestamp,
  seenAt: Timestamp,
  /** Whether it has reported within the last minute. */
  alive: z.boolean(),
  jobs: z.array(Job),
})
export type ServerProcess = z.infer<typeof ServerProcess>

export const getServerFacts = operatorProcedure({
  kind: 'query',
  summary: 'Read the state of the server: database, delivery queue, processes and their jobs',
  output: z.object({
    database: z.object({
      bytes: z.number(),
      /** Such as `17.5`. */
      postgresVersion: z.string(),
      embedded: z.boolean(),
    }),
    accounts: z.object({ total: z.int(), suspended: z.int() }),
    queue: z.object({
      /** How long the oldest due delivery of all accounts has waited. */
      lagSeconds: z.number(),
      /** Waiting deliveries, counted up to a million. */
      waiting: z.int(),
      failingEndpoints: z.int(),
    }),
    /** Messages whose outcome has been unknown for more than a minute. */
    pending: z.object({ count: z.int(), oldestSeconds: z.number() }),
    /** Processes of the last day, most recently seen first, at most 50. */
    processes: z.array(ServerProcess),
  }),
})

export const SlowEndpoint = z.object({
  accountId: z.string(),
  accountName: z.string(),
  endpointId: z.string(),
  /** Without the path and query, which can contain credentials. */
  host: z.string(),
  attempts: z.int(),
  failed: z.int(),
  averageMilliseconds: z.number(),
  slowestMilliseconds: z.number(),
})
export type SlowEndpoint = z.infer<typeof SlowEndpoint>

export const listSlowEndpoints = operatorProcedure({
  kind: 'query',
  summary: 'List the ten endpoints with the longest average response time in the last hour',
  output: z.object({ items: z.array(SlowEndpoint) }),
})
