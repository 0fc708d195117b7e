import { z } from 'zod'
import { Facts } from './facts.ts'
import { singleLine, Timestamp } from '../fields.ts'
import { dashboardProcedure } from '../procedure.ts'
import { Email, Password } from './user.ts'

export const Session = z.object({
  sessionId: z.string(),
  /** Browser and operating system, as the browser names them. */
  device: z.string(),
  facts: Facts.optional(),
  /** The IP address last seen. */
  address: z.string(),
  signedInAt: Timestamp,
  /** Recorded every few minutes. */
  lastSeenAt: Timestamp,
  expiresAt: Timestamp,
  /** Whether this request uses the session. */
  current: z.boolean(),
})
export type Session = z.infer<typeof Session>

export const listSessions = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'signed-in',
  summary: 'List the sessions of the user who is signed in, last used first',
  input: z.strictObject({}),
  output: z.object({ items: z.array(Session) }),
})

export const revokeSession = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'signed-in',
  summary: 'End one session of the user who is signed in',
  input: z.strictObject({ sessionId: singleLine(64) }),
  output: z.object({ revoked: z.literal(true) }),
  audit: 'by handler',
})

export const revokeOtherSessions = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'signed-in',
  summary: 'End all other sessions of the user who is signed in',
  input: z.strictObject({}),
  output: z.object({ revoked: z.int() }),
  audit: 'by handler',
})

/** Neither the response nor its timing reveals whether the address belongs to a user. */
export const requestPasswordReset = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'anybody',
  summary: 'Request an email with a link to set a new password',
  input: z.strictObject({ email: Email }),
  output: z.object({}),
  audit: 'by handler',
})

/** Ends all sessions of the user. Their authenticator app stays set up. */
export const resetPassword = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'anybody',
  summary: 'Set a new password with the link from an email',
  input: z.strictObject({ token: singleLine(128), password: Password }),
  output: z.object({ email: z.string() }),
  audit: 'by handler',
})
