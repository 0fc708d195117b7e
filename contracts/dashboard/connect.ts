import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { AccountHealth as PublicAccountHealth, HealthFinding, WhatsAppAccountHealth } from '../api/account.ts'
import { singleLine, Timestamp } from '../fields.ts'
import { accountInput, dashboardProcedure, ownerCheck, viewerQuery } from '../procedure.ts'
import { changes } from '../facts/changes.ts'
import { Facts } from './facts.ts'
import { MetaSecret, whatsAppAccountInput } from './whatsapp-account.ts'

/** The steps that connect a phone number, in order. Each step can be repeated. */

const Message = z.string().describe('What WhatsApp answered, in plain words.')
const Fix = z.string().describe('What to do about it; absent if nothing has to be done.')

const ConnectableNumber = z.object({
  phoneNumberId: z.string(),
  displayPhoneNumber: z.string().optional(),
  verifiedName: z.string().optional(),
  /** `CONNECTED` if it is registered. */
  status: z.string().optional(),
  qualityRating: z.string().optional(),
  /** True if it is also used in the WhatsApp Business app. */
  onBusinessApp: z.boolean().optional(),
})

const ConnectableAccount = z.object({
  wabaId: z.string(),
  name: z.string().optional(),
  numbers: z.array(ConnectableNumber),
})
export type ConnectableAccount = z.infer<typeof ConnectableAccount>

export const TokenReport = z.object({
  valid: z.boolean(),
  message: Message,
  fix: Fix.optional(),
  facts: Facts.optional(),
  appId: z.string().optional(),
  appName: z.string().optional(),
  /** Absent if it never expires. */
  expiresAt: Timestamp.optional(),
  permissions: z.array(z.string()),
  /** Required permissions that the token lacks. */
  missing: z.array(z.string()),
  /** The business accounts and numbers that the token can access. */
  accounts: z.array(ConnectableAccount),
})
export type TokenReport = z.infer<typeof TokenReport>

/** A mutation, because a query would put the token into the URL. Nothing is stored. */
export const inspectToken = ownerCheck({
  summary: 'Check an access token with WhatsApp, and list the numbers that it may use',
  input: accountInput({ accessToken: MetaSecret }),
  output: TokenReport,
  audit: changes.inspectToken,
})

export const ConnectStep = z.object({
  ok: z.boolean(),
  message: Message,
  fix: Fix.optional(),
  facts: Facts.optional(),
})
export type ConnectStep = z.infer<typeof ConnectStep>

export const subscribeApp = ownerCheck({
  summary: "Subscribe the token's app to the callbacks of the WhatsApp Business Account",
  input: whatsAppAccountInput,
  output: ConnectStep,
  audit: changes.subscribeApp,
})

/** Values to enter in Meta's app dashboard if Waybill cannot set them. */
const CallbackValues = z.object({
  callbackUrl: z.string().optional(),
  verifyToken: z.string().optional(),
  fields: z.array(z.string()),
})

export const CallbackStep = ConnectStep.extend({
  /** Present if the values must be entered at Meta manually. */
  enter: CallbackValues.optional(),
})
export type CallbackStep = z.infer<typeof CallbackStep>

export const configureCallback = ownerCheck({
  summary: "Set the callback URL of the token's app, or return the values to enter at Meta",
  input: whatsAppAccountInput,
  output: CallbackStep,
  audit: changes.configureCallback,
})

export const CallbackSetUp = z.object({
  /** Why Waybill cannot set the callback URL, and how to fix that; absent if it can. */
  obstacle: z.object({ message: Message, fix: z.string(), facts: Facts.optional() }).optional(),
  enter: CallbackValues,
})
export type CallbackSetUp = z.infer<typeof CallbackSetUp>

/** Only for owners, because the output contains the verify token. */
export const getCallbackSetUp = dashboardProcedure({
  kind: 'query',
  budget: 'reads',
  allowed: 'owner',
  summary: 'Read what the app dashboard of Meta asks for, and whether Waybill can enter it by itself',
  input: whatsAppAccountInput,
  output: CallbackSetUp,
})

/** The health that API callers read, with the facts behind its findings. */
const AccountHealth = PublicAccountHealth.extend({
  whatsAppAccounts: z.array(
    WhatsAppAccountHealth.extend({ findings: z.array(HealthFinding.extend({ facts: Facts.optional() })) }),
  ),
})

/** `withCounts` adds the messages of the last hour, which takes longer. */
export const getHealth = viewerQuery({
  summary: 'Read what is known of the WhatsApp accounts, and what follows from it',
  input: accountInput({ withCounts: z.boolean().default(false) }),
  output: AccountHealth,
})

export const checkHealth = ownerCheck({
  summary: 'Ask WhatsApp about the token, the number, the subscription and the callback URL now',
  input: whatsAppAccountInput,
  output: AccountHealth,
  audit: changes.checkHealth,
})

/** Two-step verification PIN of a phone number. */
export const Pin = z.string().regex(/^\d{6}$/, problems.pin())

export const registerNumber = ownerCheck({
  summary: 'Register the phone number with the Cloud API, with its two-step verification PIN',
  input: accountInput({ whatsAppAccountId: singleLine(64), pin: Pin }),
  output: ConnectStep,
  audit: changes.registerNumber,
})
