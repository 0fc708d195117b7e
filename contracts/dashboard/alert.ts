import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { Facts } from './facts.ts'
import { singleLine, Timestamp, wholeNumber } from '../fields.ts'
import { accountInput, dashboardProcedure, ownerChange, viewerQuery } from '../procedure.ts'
import { changes } from '../facts/changes.ts'

export const chatFormats = ['slack', 'teams'] as const
export type ChatFormat = (typeof chatFormats)[number]

const Chat = z.object({
  format: z.enum(chatFormats),
  /** Host of the URL. The rest of the URL is a secret. */
  host: z.string(),
  /** Why the last post failed; absent if it did not. */
  problem: z.string().optional(),
  problemAt: Timestamp.optional(),
  facts: Facts.optional(),
})
export type Chat = z.infer<typeof Chat>

export const TimeZone = singleLine(64).refine(isTimeZone, problems.timeZone())

function isTimeZone(name: string): boolean {
  try {
    // Excludes offsets such as +02:00, which some engines accept: they have no daylight saving time.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, problems.timeOfDay())

/** Alerts that begin during quiet hours are sent when the quiet hours end. */
export const QuietHours = z
  .strictObject({
    timeZone: TimeZone,
    from: TimeOfDay,
    /** Earlier than `from` if the hours span midnight. */
    until: TimeOfDay,
    /** Whether critical alerts are still sent immediately. */
    exceptCritical: z.boolean(),
  })
  .refine(({ from, until }) => from !== until, { path: ['until'], message: problems.sameTime() })
export type QuietHours = z.infer<typeof QuietHours>

/** Limits of `failureRateMinMessages`. */
export const failureRateMinMessagesRange = { min: 1, max: 10_000 } as const

/** Limits of `noStatusMinMessages`. */
export const noStatusMinMessagesRange = { min: 1, max: 10_000 } as const

const thresholds = {
  /** Alert if more than this percentage of the messages of the last hour failed; null: no alert. */
  failureRatePercent: wholeNumber(1, 100).nullable(),
  /** The failure rate is ignored if there were fewer messages in the last hour. */
  failureRateMinMessages: wholeNumber(failureRateMinMessagesRange.min, failureRateMinMessagesRange.max),
  /** Alert if webhook deliveries are later than this; null: no alert. */
  deliveryLagSeconds: z
    .int()
    .min(30, problems.leastSeconds({ min: 30 }))
    .max(86_400, problems.aDay())
    .nullable(),
  /** Alert if WhatsApp accepted at least this many messages without reporting any status since; null: no alert. */
  noStatusMinMessages: wholeNumber(noStatusMinMessagesRange.min, noStatusMinMessagesRange.max).nullable(),
  quietHours: QuietHours.nullable(),
  /** Repeat an alert at this interval until it is acknowledged or resolved; null: send it once. */
  repeatHours: wholeNumber(1, 168).nullable(),
}

/** The rules of accounts that have not changed them. */
export const defaultAlertRules: AlertRules = {
  failureRatePercent: 20,
  failureRateMinMessages: 20,
  deliveryLagSeconds: 300,
  noStatusMinMessages: 10,
  quietHours: null,
  repeatHours: null,
}

const AlertRules = z.object(thresholds)
export type AlertRules = z.infer<typeof AlertRules>

export const AlertSettings = AlertRules.extend({
  /** Absent if alerts are not posted to a chat. */
  chat: Chat.optional(),
  /** Whether this server sends email. */
  emails: z.boolean(),
})
export type AlertSettings = z.infer<typeof AlertSettings>

export const getAlertSettings = viewerQuery({
  summary: 'Read how alerts are sent',
  output: AlertSettings,
})

export const AlertRecipients = z.object({
  /** Whether this server sends email. */
  emails: z.boolean(),
  /** Whether the caller gets the alerts of the account by email. */
  receives: z.boolean(),
  /** All members with their choices; for owners only. */
  members: z.array(z.object({ email: z.string(), receives: z.boolean() })).optional(),
})
export type AlertRecipients = z.infer<typeof AlertRecipients>

export const getAlertRecipients = viewerQuery({
  summary: 'Read whether the caller gets alerts by email, and as an owner, who else does',
  output: AlertRecipients,
})

/** Each member, including viewers, decides for themselves. The handler writes the audit entry, if something changes. */
export const setAlertEmails = dashboardProcedure({
  kind: 'mutation',
  budget: 'emails',
  allowed: 'viewer',
  summary: 'Stop or resume the alerts that the caller gets by email',
  input: accountInput({ receives: z.boolean() }),
  output: AlertRecipients,
  audit: 'by handler',
})

export const EmailTest = z.object({
  /** False if this server sends no email. */
  queued: z.boolean(),
  to: z.string(),
})
export type EmailTest = z.infer<typeof EmailTest>

/** Sent to the caller only, even if they have turned off alert emails. */
export const testEmail = dashboardProcedure({
  kind: 'mutation',
  budget: 'emails',
  allowed: 'viewer',
  summary: 'Send the caller a test email, as alerts are sent',
  output: EmailTest,
  audit: changes.testAlertEmail,
})

export const setChat = ownerChange({
  summary: 'Post alerts to a chat in Slack or Teams',
  input: accountInput({
    url: singleLine(2048),
    /** Derived from the host by default, if the host is known. */
    format: z.enum(chatFormats).optional(),
  }),
  output: Chat,
  // Omits the URL, which is a secret.
  audit: changes.setAlertChat,
})

export const removeChat = ownerChange({
  summary: 'Stop posting alerts to a chat',
  output: z.object({ removed: z.boolean() }),
  audit: changes.removeAlertChat,
})

export const ChatTest = z.object({
  posted: z.boolean(),
  /** Absent if there was no response. */
  statusCode: z.int().optional(),
  /** Why it failed. */
  error: z.string().optional(),
  facts: Facts.optional(),
})
export type ChatTest = z.infer<typeof ChatTest>

export const testChat = dashboardProcedure({
  kind: 'mutation',
  budget: 'tests',
  allowed: 'owner',
  summary: 'Post a test message to the chat',
  output: ChatTest,
  audit: changes.testAlertChat,
})

/** Omitted fields stay unchanged. */
export const updateAlertRules = ownerChange({
  summary: 'Change thresholds, quiet hours and repetition of alerts',
  input: accountInput(AlertRules.partial().shape),
  output: AlertSettings,
  audit: (changed) => {
    const names = Object.keys(changes.rule) as (keyof AlertRules)[]
    const rules = names.filter((name) => changed[name] !== undefined).map((name) => changes.rule[name]())
    return rules.length === 0 ? undefined : changes.updateAlertRules({ rules })
  },
})

/** The kinds of problems that cause alerts. */
export const alertCodes = [
  'whatsapp_account_inactive',
  'token_expiring',
  'quality_low',
  'endpoint_failing',
  'failure_rate',
  'delivery_lag',
  'no_statuses',
  'template_stopped',
  'template_category_changing',
  'account_notice',
  'messaging_limit',
] as const
export type AlertCode = (typeof alertCodes)[number]

export const alertSeverities = ['critical', 'warning'] as const
export type AlertSeverity = (typeof alertSeverities)[number]

export const Alert = z.object({
  alertId: z.string(),
  severity: z.enum(alertSeverities),
  title: z.string(),
  body: z.string(),
  /** Page of the dashboard, relative to the account. */
  page: z.string(),
  openedAt: Timestamp,
  /** When it was last sent; absent if it has not been sent yet, for example during quiet hours. */
  sentAt: Timestamp.optional(),
  acknowledgedAt: Timestamp.optional(),
  /** Email address of a user, or `operator`. */
  acknowledgedBy: z.string().optional(),
  recoveredAt: Timestamp.optional(),
  facts: Facts.optional(),
})
export type Alert = z.infer<typeof Alert>

export const listAlerts = viewerQuery({
  summary: 'List open alerts, then those that were resolved in the last 30 days, newest first',
  output: z.object({ items: z.array(Alert) }),
})

export const acknowledgeAlert = ownerChange({
  summary: 'Acknowledge an alert: no further notifications are sent for it until it is resolved',
  input: accountInput({ alertId: singleLine(64) }),
  output: Alert,
  audit: changes.acknowledgeAlert,
})
