import { z } from 'zod'
import { Facts } from './facts.ts'
import { changes } from '../facts/changes.ts'
import { problems } from '../facts/problems.ts'
import { AccountId, singleLine, Timestamp } from '../fields.ts'
import { accountInput, dashboardProcedure, Role, viewerQuery } from '../procedure.ts'

export const Email = z
  .email(problems.email())
  .max(254, problems.atMostCharacters({ maxLength: 254 }))
  .transform((email) => email.toLowerCase())

/** Only the length is checked, as NIST SP 800-63B, 3.1.1.2, recommends: no composition rules. */
export const Password = z
  .string()
  .min(12, problems.atLeastCharacters({ min: 12 }))
  .max(128, problems.atMostCharacters({ maxLength: 128 }))

/** The ways to sign in to this server. */
export const getSignInOptions = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'anybody',
  summary: 'Read how users can sign in',
  input: z.strictObject({}),
  output: z.object({
    /** Host of the organisation's OpenID Connect provider, such as `login.example.com`; absent if there is none. */
    organisation: z.string().optional(),
    /** How a forgotten password is reset: by email if present, otherwise by the operator of this server. */
    passwordReset: z.literal('email').optional(),
    /** Whether this server is the sandbox. */
    sandbox: z.literal(true).optional(),
  }),
})

export const Invitation = z.object({
  accountName: z.string(),
  email: z.string(),
  role: Role,
  /** Email address of the member who invited; absent if an operator did. */
  invitedBy: z.string().optional(),
  expiresAt: Timestamp,
  /** Whether the link only sets a new password for an existing member. */
  setsPassword: z.boolean(),
  /**
   * Whether the link proves the address of an existing user who never proved it. Accepting it removes their password,
   * sessions and authenticator app, which somebody else may have set up, and starts as for a new user.
   */
  replacesCredentials: z.boolean(),
})

/** Reads an invitation by its link before it is accepted. */
export const getInvitation = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'anybody',
  summary: 'Read an invitation',
  input: z.strictObject({ token: singleLine(128) }),
  output: Invitation,
})

/**
 * Creates the user with the role of the invitation. The link becomes invalid. Without a password, the user signs in with
 * the organisation's provider, if there is one. An existing user keeps their name and enters their password; without it,
 * the answer is SIGN_IN_REQUIRED, and they sign in and join instead. The name may be absent only if the link sets a new
 * password.
 */
export const acceptInvitation = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'anybody',
  summary: 'Accept an invitation',
  input: z.strictObject({ token: singleLine(128), name: singleLine(100).optional(), password: Password.optional() }),
  output: z.object({ email: z.string(), accountId: AccountId }),
  audit: 'by handler',
})

/**
 * Gives the signed-in user the role of the invitation, which becomes invalid. The session and the link must be for the same
 * email address, so that a forwarded link gives nobody else a role.
 */
export const joinAccount = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'signed-in',
  summary: 'Accept an invitation as the signed-in user',
  input: z.strictObject({ token: singleLine(128) }),
  output: z.object({ accountId: AccountId }),
  audit: 'by handler',
})

export const Membership = z.object({
  accountId: z.string(),
  name: z.string(),
  role: Role,
  /** Present while the account is suspended by an operator. Nothing is sent then. */
  suspendedAt: Timestamp.optional(),
  /** Present if the user views the account as an operator, without being a member. The view ends at this time. */
  viewedUntil: Timestamp.optional(),
})
export type Membership = z.infer<typeof Membership>

/** Operators need an authenticator app (`needs_authenticator`), and a session that was started with its code (`needs_code`). */
export const OperatorAccess = z.enum(['granted', 'needs_authenticator', 'needs_code'])
export type OperatorAccess = z.infer<typeof OperatorAccess>

/** A number that determines the outcome of a send in the sandbox. */
export const SandboxRecipient = z.object({
  to: z.string(),
  does: z.string(),
  /** The heading for this outcome and similar ones. */
  group: z.string(),
  facts: Facts.optional(),
})

export const getSession = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'signed-in',
  summary: 'Read the signed-in user and their accounts',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    email: z.string(),
    /** False for a user who has only signed in by a link or with the organisation. */
    hasPassword: z.boolean(),
    /** Whether sign-in requires an authenticator app. */
    twoFactor: z.boolean(),
    accounts: z.array(Membership),
    /** Present if the user is an operator of this server. */
    operator: OperatorAccess.optional(),
    /** Source address of this request, after `TRUST_PROXY`. */
    address: z.string(),
    /** Present only in the sandbox. */
    sandbox: z.object({ recipients: z.array(SandboxRecipient) }).optional(),
  }),
})

export const AuditEntry = z.object({
  id: z.string(),
  at: Timestamp,
  /** Email address of the user, which is kept after the user is removed; `operator`, or `waybill` itself. */
  who: z.string(),
  what: z.string(),
  /** IP address, `command line`, or `upgrade`. */
  address: z.string(),
  /** `started`: in progress, or interrupted by a crash. After a crash, the change may or may not have been made. */
  outcome: z.enum(['started', 'done', 'refused']),
  facts: Facts.optional(),
})

/** `nextCursor` of the previous page. */
const AuditCursor = z.string().regex(/^\d{1,9}$/, 'must be the nextCursor of a page')

export const listAudit = viewerQuery({
  summary: 'List changes and sign-ins with their user and address, newest first',
  input: accountInput({
    cursor: AuditCursor.optional(),
    limit: z.int().min(1).max(100).default(50),
    search: singleLine(255).optional().describe('A part of the user, the action or the address.'),
    who: singleLine(255).optional().describe('Email address of a user, or `operator`.'),
    from: Timestamp.optional(),
    until: Timestamp.optional().describe('Exclusive.'),
  }),
  output: z.object({ items: z.array(AuditEntry), nextCursor: z.string().optional() }),
})

/** The browser makes the file from pages that it reads, so the log learns of it by this. */
export const recordExport = dashboardProcedure({
  kind: 'mutation',
  budget: 'exports',
  allowed: 'viewer',
  summary: 'Record an export in the audit log',
  input: accountInput({ of: z.enum(['messages', 'auditLog']) }),
  output: z.object({ recorded: z.literal(true) }),
  audit: ({ of }) => (of === 'messages' ? changes.exportMessages() : changes.exportAuditLog()),
})
