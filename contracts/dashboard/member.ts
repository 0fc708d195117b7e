import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { accountInput, dashboardProcedure, ownerChange, Role, viewerQuery } from '../procedure.ts'
import { changes, roles } from '../facts/changes.ts'
import { Email } from './user.ts'

export const Member = z.object({
  email: z.string(),
  name: z.string(),
  role: Role,
  /** Whether sign-in requires an authenticator app. */
  twoFactor: z.boolean(),
})
export type Member = z.infer<typeof Member>

export const listMembers = viewerQuery({
  summary: 'List the members of the account',
  output: z.object({ items: z.array(Member) }),
})

export const setMemberRole = ownerChange({
  summary: 'Change the role of a member; the last owner stays one',
  input: accountInput({ email: Email, role: Role }),
  output: Member,
  audit: ({ email, role }) => changes.setMemberRole({ email, role: roles[role]() }),
})

export const removeMember = ownerChange({
  summary: 'Remove a member from the account; the last owner stays',
  input: accountInput({ email: Email }),
  output: z.object({ removed: z.literal(true) }),
  audit: changes.removeMember,
})

export const PendingInvitation = z.object({
  email: z.string(),
  role: Role,
  expiresAt: Timestamp,
  /** Email address of the owner who sent it; absent if an operator did. */
  invitedBy: z.string().optional(),
  /** True until the email has been sent, for example while the SMTP server is down. */
  emailWaiting: z.boolean(),
})
export type PendingInvitation = z.infer<typeof PendingInvitation>

export const listInvitations = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'owner',
  summary: 'List invitations that were not accepted yet',
  output: z.object({ items: z.array(PendingInvitation) }),
})

export const SentInvitation = z.object({
  email: z.string(),
  role: Role,
  expiresAt: Timestamp,
  /** Present if this server sends no email, so that the owner must pass the link on. It cannot be shown again. */
  link: z.string().optional(),
})
export type SentInvitation = z.infer<typeof SentInvitation>

/** A second invitation of an address replaces the first, whose link becomes invalid. */
export const inviteMember = ownerChange({
  summary: 'Invite a user by email, or create a link to pass on if no SMTP server is set up',
  input: accountInput({ email: Email, role: Role }),
  output: SentInvitation,
  audit: ({ email, role }) => changes.inviteMember[role]({ email }),
})

export const revokeInvitation = ownerChange({
  summary: 'Revoke an invitation: its link becomes invalid',
  input: accountInput({ email: Email }),
  output: z.object({ revoked: z.literal(true) }),
  audit: changes.revokeInvitation,
})
