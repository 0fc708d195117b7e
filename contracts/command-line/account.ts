import { z } from 'zod'
import { changes, contentsChange, switches } from '../facts/changes.ts'
import { join } from '../facts/fact.ts'
import { maxContentsDays } from '../dashboard/public-api.ts'
import { Timestamp } from '../fields.ts'
import { accountInput, commandProcedure } from '../procedure.ts'

const Switch = z.enum(['enabled', 'disabled'])

export const Account = z.object({
  accountId: z.string(),
  name: z.string(),
  api: Switch,
  /** Sends per minute. */
  rateLimit: z.int(),
  /** Whether the API key may create, change and delete templates. */
  templateChanges: Switch,
  /** Whether `/mcp` serves the account. */
  mcp: Switch,
  allowList: z.array(z.string()),
  /** How many days message contents are stored; absent if they are not stored. */
  messageContentsDays: z.int().optional(),
  /** IANA name of the time zone in which the overview shows days. */
  timeZone: z.string(),
  /** Absent if the account is not suspended. */
  suspendedAt: Timestamp.optional(),
  /** The first characters of the API key; absent if there is no key. */
  keyStart: z.string().optional(),
  createdAt: Timestamp,
})
export type Account = z.infer<typeof Account>

export const createAccount = commandProcedure({
  kind: 'mutation',
  input: z.strictObject({ name: z.string() }),
  output: Account.pick({ accountId: true, name: true }),
  // There is no audit log before there is an account.
  audit: 'nothing',
})

const contentsDays = `must be off, or 1 to ${maxContentsDays} days`

/** Omitted fields stay unchanged. */
export const updateAccount = commandProcedure({
  kind: 'mutation',
  input: accountInput({
    api: Switch.optional(),
    rateLimit: z.int().optional(),
    templateChanges: Switch.optional(),
    mcp: Switch.optional(),
    /** Null stops storing contents and deletes those stored. */
    messageContentsDays: z
      .int(contentsDays)
      .min(1, contentsDays)
      .max(maxContentsDays, contentsDays)
      .nullable()
      .optional(),
    timeZone: z.string().optional(),
  }),
  output: Account,
  audit: ({ api, rateLimit, templateChanges, mcp, timeZone, messageContentsDays: days }) =>
    join(
      [
        ...(api === undefined ? [] : [switches.api(api === 'enabled')]),
        ...(rateLimit === undefined ? [] : [changes.setRateLimit({ rateLimit })]),
        ...(templateChanges === undefined ? [] : [switches.templateChanges(templateChanges === 'enabled')]),
        ...(mcp === undefined ? [] : [switches.mcp(mcp === 'enabled')]),
        ...(timeZone === undefined ? [] : [changes.setTimeZone({ timeZone })]),
        ...(days === undefined ? [] : [contentsChange(days)]),
      ],
      changes.both,
    ),
})

export const listAccounts = commandProcedure({
  kind: 'query',
  output: z.object({ items: z.array(Account) }),
})

export const suspendAccount = commandProcedure({
  kind: 'mutation',
  input: accountInput({}),
  output: Account,
  audit: changes.suspendAccount,
})

export const resumeAccount = commandProcedure({
  kind: 'mutation',
  input: accountInput({}),
  output: Account,
  audit: changes.resumeAccount,
})
