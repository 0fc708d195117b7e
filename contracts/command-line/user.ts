import { z } from 'zod'
import { PendingInvitation } from '../dashboard/member.ts'
import { changes } from '../facts/changes.ts'
import { Timestamp } from '../fields.ts'
import { accountInput, commandProcedure, Role } from '../procedure.ts'

export const listMembers = commandProcedure({
  kind: 'query',
  input: accountInput({}),
  output: z.object({
    items: z.array(
      z.object({
        userId: z.string(),
        email: z.string(),
        name: z.string(),
        role: Role,
        alertEmails: z.boolean(),
        twoFactor: z.boolean(),
      }),
    ),
    invitations: z.array(PendingInvitation),
  }),
})

/** A link that works once, and is shown once. */
const IssuedLink = z.object({ email: z.string(), role: Role, url: z.string(), expiresAt: Timestamp })

export const inviteMember = commandProcedure({
  kind: 'mutation',
  input: accountInput({
    email: z.string(),
    role: Role.default('owner'),
    /** Whether the link is also sent by email. */
    send: z.boolean().default(false),
  }),
  output: IssuedLink,
  audit: ({ email, role }) => changes.inviteMember[role]({ email }),
})

export const removeMember = commandProcedure({
  kind: 'mutation',
  input: accountInput({ email: z.string() }),
  output: z.object({ removed: z.literal(true) }),
  audit: changes.removeMember,
})

export const resetPassword = commandProcedure({
  kind: 'mutation',
  input: accountInput({ email: z.string() }),
  output: IssuedLink,
  audit: changes.resetPassword,
})

const Operator = z.object({
  email: z.string(),
  name: z.string(),
  /** Whether they have an authenticator app, which the console needs. */
  twoFactor: z.boolean(),
  grantedAt: Timestamp,
})

export const grantOperator = commandProcedure({
  kind: 'mutation',
  input: z.strictObject({ email: z.string() }),
  output: Operator,
  audit: 'by handler',
})

export const revokeOperator = commandProcedure({
  kind: 'mutation',
  input: z.strictObject({ email: z.string() }),
  output: z.object({ email: z.string(), revoked: z.literal(true) }),
  audit: 'by handler',
})

export const listOperators = commandProcedure({
  kind: 'query',
  output: z.object({ items: z.array(Operator) }),
})
