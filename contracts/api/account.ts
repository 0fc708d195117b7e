import { z } from 'zod'
import { namedObject, WhatsAppAccountId, responseField, Timestamp, withExample } from '../fields.ts'
import { procedure } from '../procedure.ts'

export const findingSeverities = ['error', 'warning'] as const

export const HealthFinding = namedObject('HealthFinding', 'A problem of a WhatsApp account.', {
  code: withExample(z.string(), 'Machine-readable code. New codes can be added.', 'token_expiring'),
  severity: z
    .enum(findingSeverities)
    .describe('`error`: messages cannot be sent, or no status arrives. `warning`: that may happen soon.'),
  blocksSending: z.boolean().describe('Whether nothing can be sent from this WhatsApp account until it is fixed.'),
  message: withExample(z.string(), 'The finding in one sentence.', 'The access token expires in 5 days.'),
  fix: withExample(
    z.string(),
    'What to do about it.',
    'Create a new token, and replace it on the WhatsApp accounts page.',
  ),
  since: Timestamp.optional().describe('When Waybill found it first; absent in its first seconds.'),
})
export type HealthFinding = z.infer<typeof HealthFinding>

export const Addressed = z
  .object({
    limit: z.int().describe('The messaging limit.'),
    people: z.int().describe('Of all numbers of the business portfolio.'),
    byNumber: z.int().describe('Of this number.'),
    complete: z.boolean().describe('False if there were too many messages to count: there are more people.'),
    countedAt: Timestamp.describe('When they were counted.'),
  })
  .describe('People who were sent a message in the last 24 hours. Absent without a limit.')
export type Addressed = z.infer<typeof Addressed>

const checkedAt = Timestamp.optional().describe('When WhatsApp was asked last; absent if it has not been asked yet.')

/** `automatic`: the endpoint that Meta asks for. `cloud_api`: never the endpoint for marketing messages. */
export const marketingSettings = ['automatic', 'cloud_api'] as const
export type MarketingSetting = (typeof marketingSettings)[number]

export const messagingAccountSettings = ['omit', 'send'] as const
export type MessagingAccountSetting = (typeof messagingAccountSettings)[number]

export const WhatsAppAccountHealth = namedObject(
  'WhatsAppAccountHealth',
  'The health of a WhatsApp account: facts with their times, and what follows from them.',
  {
    accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account.'),
    phoneNumberId: withExample(z.string(), "WhatsApp's ID of the phone number.", '106540352242922'),
    displayPhoneNumber: withExample(
      z.string().optional(),
      'The phone number, as WhatsApp shows it.',
      '+34 600 111 222',
    ),
    isDefault: z.boolean().describe('Whether requests without `accountId` use it.'),
    active: z.boolean().describe('False if a user deactivated it or WhatsApp rejected it.'),
    healthy: z.boolean().describe('True if there is no finding of severity `error`.'),
    canSend: z.boolean().describe('True if no finding blocks sending.'),
    findings: z.array(HealthFinding).describe('Errors first.'),
    token: z
      .object({
        valid: z.boolean().optional().describe('Whether WhatsApp accepts the access token.'),
        expiresAt: Timestamp.optional().describe('When it expires; absent if no expiry is known.'),
        missingPermissions: z.array(z.string()).describe('Required permissions that it lacks.'),
        checkedAt,
      })
      .describe('The access token.'),
    number: z
      .object({
        status: withExample(z.string().optional(), '`CONNECTED` if it can send.', 'CONNECTED'),
        nameStatus: withExample(z.string().optional(), 'Review of the display name.', 'APPROVED'),
        qualityRating: withExample(z.string().optional(), '`GREEN`, `YELLOW` or `RED`.', 'GREEN'),
        portfolioId: z.string().optional().describe("WhatsApp's ID of the business portfolio."),
        messagingLimit: withExample(
          z.string().optional(),
          'Recipients per 24 hours, of the whole business portfolio.',
          'TIER_250',
        ),
        addressed: Addressed.optional(),
        throughputLevel: withExample(z.string().optional(), '`STANDARD` or `HIGH`.', 'STANDARD'),
        onBusinessApp: z.boolean().optional().describe('Whether the WhatsApp Business app uses it too.'),
        checkedAt,
      })
      .describe('The phone number, as WhatsApp reported it last.'),
    marketing: z
      .object({
        setting: z
          .enum(marketingSettings)
          .describe(
            '`automatic`: marketing templates go to the endpoint that WhatsApp asks for. `cloud_api`: always to `/messages`.',
          ),
        endpoint: z
          .enum(['marketing_messages', 'messages'])
          .describe('The endpoint of WhatsApp that marketing templates are sent to. All others go to `/messages`.'),
        onboardingStatus: withExample(
          z.string().optional(),
          '`ONBOARDED` if the WhatsApp Business Account uses the Marketing Messages API; otherwise why not, such as `ELIGIBLE` while the terms are not accepted.',
          'ONBOARDED',
        ),
        offCloudApi: z
          .boolean()
          .optional()
          .describe('Whether `/messages` rejects marketing templates of the WhatsApp Business Account.'),
        checkedAt,
      })
      .describe('How marketing templates are sent.'),
    callbacks: z
      .object({
        subscribed: z.boolean().optional().describe('Whether the app is subscribed to the WhatsApp Business Account.'),
        callbackUrl: withExample(
          z.string().optional(),
          'Where WhatsApp sends callbacks of the app; absent if it is not known.',
          'https://waybill.example.com/webhooks/whatsapp',
        ),
        fields: z.array(z.string()).describe('Fields that the app is subscribed to, as far as known.'),
        lastCallbackAt: Timestamp.optional().describe('When the last callback arrived, within 10 seconds.'),
        lastStatusAt: Timestamp.optional().describe('When the last status of a message arrived, within 10 seconds.'),
        checkedAt,
      })
      .describe('How statuses come back from WhatsApp.'),
    lastHour: z
      .object({
        sent: withExample(z.int(), 'Messages of the last hour that did not fail.', 1042),
        failed: withExample(z.int(), 'Messages of the last hour that failed.', 3),
        failures: z
          .array(
            z.object({
              code: withExample(z.string(), "WhatsApp's error code.", '131026'),
              count: withExample(z.int(), 'Messages that failed with it.', 3),
            }),
          )
          .describe('The most frequent errors.'),
      })
      .optional()
      .describe('Counts up to 50,000 messages.'),
  },
)
export type WhatsAppAccountHealth = z.infer<typeof WhatsAppAccountHealth>

export const AccountHealth = namedObject('AccountHealth', 'The health of all WhatsApp accounts of this account.', {
  healthy: z.boolean().describe('True if every active WhatsApp account is healthy, and there is one.'),
  canSend: z.boolean().describe('True if the default WhatsApp account can send.'),
  whatsAppAccounts: z.array(WhatsAppAccountHealth).describe('Oldest first.'),
})
export type AccountHealth = z.infer<typeof AccountHealth>

export const getAccountHealth = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/account/health',
  tag: 'Accounts',
  summary: 'Get the health of the WhatsApp accounts',
  description:
    'Returns what is known of each WhatsApp account: token, phone number, subscription, callbacks and the sends of the last hour, with the time of each check, and what follows from it. Reads stored facts only; WhatsApp is asked every 30 minutes, and after callbacks and errors that report a change.',
  input: z.strictObject({}),
  output: AccountHealth,
  errors: [],
  example: {
    input: {},
    output: {
      healthy: true,
      canSend: true,
      whatsAppAccounts: [
        {
          accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
          phoneNumberId: '106540352242922',
          displayPhoneNumber: '+34 600 111 222',
          isDefault: true,
          active: true,
          healthy: true,
          canSend: true,
          findings: [
            {
              code: 'token_expiring',
              severity: 'warning',
              blocksSending: false,
              message: 'The access token expires in 5 days.',
              fix: 'Create a new token, and replace it on the WhatsApp accounts page.',
              since: '2026-11-11T09:00:00.000Z',
            },
          ],
          token: {
            valid: true,
            expiresAt: '2026-11-25T09:00:00.000Z',
            missingPermissions: [],
            checkedAt: '2026-11-20T09:00:00.000Z',
          },
          number: {
            status: 'CONNECTED',
            nameStatus: 'APPROVED',
            qualityRating: 'GREEN',
            messagingLimit: 'TIER_250',
            addressed: {
              limit: 250,
              people: 180,
              byNumber: 180,
              complete: true,
              countedAt: '2026-11-20T09:29:30.000Z',
            },
            throughputLevel: 'STANDARD',
            checkedAt: '2026-11-20T09:00:00.000Z',
          },
          marketing: {
            setting: 'automatic',
            endpoint: 'marketing_messages',
            onboardingStatus: 'ONBOARDED',
            offCloudApi: false,
            checkedAt: '2026-11-20T09:00:00.000Z',
          },
          callbacks: {
            subscribed: true,
            callbackUrl: 'https://waybill.example.com/webhooks/whatsapp',
            fields: ['messages', 'account_update'],
            lastCallbackAt: '2026-11-20T09:29:58.000Z',
            lastStatusAt: '2026-11-20T09:29:58.000Z',
            checkedAt: '2026-11-20T09:00:00.000Z',
          },
          lastHour: { sent: 1042, failed: 3, failures: [{ code: '131026', count: 3 }] },
        },
      ],
    },
  },
})
