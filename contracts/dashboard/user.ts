import { z } from 'zod'
import { CustomerId, line, Timestamp } from '../fields.ts'
import { ofAccount, Role, dashboardProcedure } from '../procedure.ts'

export const Email = z
  .email('must be an email address, such as ada@example.com')
  .max(254, 'must have at most 254 characters')
  .transform((email) => email.toLowerCase())

/** NIST SP 800-63B, 3.1.1.2: length is what counts; nothing is demanded of its letters. */
export const Password = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(128, 'must have at most 128 characters')

/** How one can sign in here. */
export const getSignInOptions = dashboardProcedure({
  kind: 'query',
  allowed: 'anybody',
  summary: 'How one can sign in',
  input: z.strictObject({}),
  output: z.object({
    /** The host of the organisation's own provider (OpenID Connect), such as `login.example.com`; absent when there is none. */
    organisation: z.string().optional(),
    /** How a forgotten password is reset: by email if present, else by the operator of this server. */
    passwordReset: z.literal('email').optional(),
  }),
})

export const Invitation = z.object({
  accountName: z.string(),
  email: z.string(),
  role: Role,
  expiresAt: Timestamp,
  /** Whether it is for a new password of somebody who is in the account already. */
  setsPassword: z.boolean(),
})

/** What the link of an invitation is for, before it is used. */
export const getInvitation = dashboardProcedure({
  kind: 'query',
  allowed: 'anybody',
  summary: 'Read an invitation',
  input: z.strictObject({ token: line(128) }),
  output: Invitation,
})

/**
 * Makes the person, with the role that the invitation gives. The link is spent. Without a password, where an
 * organisation's provider is set up, they sign in with that. An existing user keeps their name.
 */
export const acceptInvitation = dashboardProcedure({
  kind: 'mutation',
  allowed: 'anybody',
  summary: 'Accept an invitation',
  input: z.strictObject({ token: line(128), name: line(100).optional(), password: Password.optional() }),
  output: z.object({ email: z.string(), accountId: CustomerId }),
})

/**
 * Gives the user who is signed in the role of an invitation, which is spent. The link is needed as well as the session,
 * and both must be for the same email address: a link that was forwarded, or opened in the browser of somebody else,
 * gives nobody a role.
 */
export const joinAccount = dashboardProcedure({
  kind: 'mutation',
  allowed: 'signed-in',
  summary: 'Accept an invitation as the user who is signed in',
  input: z.strictObject({ token: line(128) }),
  output: z.object({ accountId: CustomerId }),
})

export const Membership = z.object({
  accountId: z.string(),
  name: z.string(),
  role: Role,
  /** Present while an operator has suspended the account: nothing is sent. */
  suspendedAt: Timestamp.optional(),
  /** Present if the user is no member but views the account as operator, until this time. */
  viewedUntil: Timestamp.optional(),
})
export type Membership = z.infer<typeof Membership>

/** Operators need an authenticator app (`needs_authenticator`), and a session that was started with its code (`needs_code`). */
export const OperatorAccess = z.enum(['granted', 'needs_authenticator', 'needs_code'])
export type OperatorAccess = z.infer<typeof OperatorAccess>

/** A number that determines the outcome of a send in the sandbox. */
export const SandboxRecipient = z.object({ to: z.string(), does: z.string() })

export const getSession = dashboardProcedure({
  kind: 'query',
  allowed: 'signed-in',
  summary: 'Who is signed in, and the accounts that they may see',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    email: z.string(),
    /** Whether an authenticator app is asked for at sign-in. */
    twoFactor: z.boolean(),
    accounts: z.array(Membership),
    /** Present if the user is an operator of this server. */
    operator: OperatorAccess.optional(),
    /** Where this request came from, after `TRUST_PROXY`. */
    address: z.string(),
    /** Present only in the sandbox, which simulates WhatsApp. */
    sandbox: z.object({ recipients: z.array(SandboxRecipient) }).optional(),
  }),
})

export const AuditEntry = z.object({
  id: z.string(),
  at: Timestamp,
  /** Email address of the person, which stays when the person goes; `operator`, or `waybill` itself. */
  who: z.string(),
  what: z.string(),
  /** IP address, `command line`, or `upgrade`. */
  address: z.string(),
  /** `started`: under way, or interrupted by a crash. Then the outcome is unknown: the change may have been made. */
  outcome: z.enum(['started', 'done', 'refused']),
})

/** `nextCursor` of the previous page. */
const AuditCursor = z.string().regex(/^\d{1,9}$/, 'must be the nextCursor of a page')

export const listAudit = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List changes and sign-ins, with who and from where; the newest first',
  input: ofAccount({ cursor: AuditCursor.optional(), limit: z.int().min(1).max(100).default(50) }),
  output: z.object({ items: z.array(AuditEntry), nextCursor: z.string().optional() }),
})
