import { z } from 'zod'
import { eventFacts } from './facts/events.ts'
import { type Fact, inEnglish } from './facts/fact.ts'
import {
  EndpointFailingEvent,
  MessageDeliveredEvent,
  MessageFailedEvent,
  MessageOutcomeUnknownEvent,
  MessageReadEvent,
  MessageRepliedEvent,
  MessageSentEvent,
  NumberQualityChangedEvent,
  RecipientOptedInEvent,
  RecipientOptedOutEvent,
  TemplateApprovedEvent,
  TemplateCategoryChangedEvent,
  TemplateCategoryChangingEvent,
  TemplatePausedEvent,
  TemplateRejectedEvent,
  TestEvent,
  WhatsAppAccountActiveEvent,
  WhatsAppAccountInactiveEvent,
  WhatsAppAccountTokenExpiringEvent,
  type WebhookEvent,
} from './events.ts'

const exampleFacts = {
  messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
  waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
  externalId: 'order-1042',
}

const exampleAccount = {
  accountId: exampleFacts.accountId,
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '+34 600 111 222',
  isDefault: true,
}

const exampleTemplate = {
  template: 'order_shipped',
  language: 'en',
  templateId: '1304694804498707',
  accountIds: [exampleFacts.accountId],
  status: 'APPROVED',
  category: 'UTILITY',
}

function optIn(description: Fact): string {
  return `${inEnglish(description)} Opt-in.`
}

/** Every webhook event with its documentation and an example. */
export const webhooks = {
  'message.sent': {
    event: MessageSentEvent,
    summary: 'A message was sent',
    description: optIn(eventFacts['message.sent']()),
    example: {
      type: 'message.sent',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleFacts, status: 'sent' },
    },
  },
  'message.delivered': {
    event: MessageDeliveredEvent,
    summary: 'A message was delivered',
    description: inEnglish(eventFacts['message.delivered']()),
    example: {
      type: 'message.delivered',
      timestamp: '2026-11-20T09:30:02.000Z',
      data: { ...exampleFacts, status: 'delivered' },
    },
  },
  'message.read': {
    event: MessageReadEvent,
    summary: 'A message was read',
    description: inEnglish(eventFacts['message.read']()),
    example: {
      type: 'message.read',
      timestamp: '2026-11-20T09:34:41.000Z',
      data: { ...exampleFacts, status: 'read' },
    },
  },
  'message.failed': {
    event: MessageFailedEvent,
    summary: 'A message failed',
    description: inEnglish(eventFacts['message.failed']()),
    example: {
      type: 'message.failed',
      timestamp: '2026-11-20T09:30:03.000Z',
      data: {
        ...exampleFacts,
        status: 'failed',
        error: { code: '131026', message: 'Message undeliverable' },
      },
    },
  },
  'message.outcome_unknown': {
    event: MessageOutcomeUnknownEvent,
    summary: "A message's outcome stays unknown",
    description: optIn(eventFacts['message.outcome_unknown']()),
    example: {
      type: 'message.outcome_unknown',
      timestamp: '2026-11-20T10:30:01.000Z',
      data: {
        messageId: exampleFacts.messageId,
        to: exampleFacts.to,
        template: exampleFacts.template,
        language: exampleFacts.language,
        accountId: exampleFacts.accountId,
        externalId: exampleFacts.externalId,
        status: 'pending',
      },
    },
  },
  'message.replied': {
    event: MessageRepliedEvent,
    summary: 'A recipient replied',
    description: optIn(eventFacts['message.replied']()),
    example: {
      type: 'message.replied',
      timestamp: '2026-11-20T09:36:12.000Z',
      data: {
        ...exampleFacts,
        template: 'delivery_feedback',
        status: 'read',
        reply: {
          waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQzQTZGNzE2MkY0RDVBRTg2NUJDQQA=',
          from: '34600111222',
          kind: 'button',
          text: 'Yes',
          payload: 'order-1042:yes',
        },
      },
    },
  },
  'whatsapp_account.inactive': {
    event: WhatsAppAccountInactiveEvent,
    summary: 'A WhatsApp account became inactive',
    description: optIn(eventFacts['whatsapp_account.inactive']()),
    example: {
      type: 'whatsapp_account.inactive',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, by: 'whatsapp', reason: 'WhatsApp rejected it (190): Access token has expired' },
    },
  },
  'whatsapp_account.active': {
    event: WhatsAppAccountActiveEvent,
    summary: 'A WhatsApp account is active again',
    description: optIn(eventFacts['whatsapp_account.active']()),
    example: { type: 'whatsapp_account.active', timestamp: '2026-11-20T09:45:00.000Z', data: exampleAccount },
  },
  'whatsapp_account.token_expiring': {
    event: WhatsAppAccountTokenExpiringEvent,
    summary: 'An access token expires soon',
    description: optIn(eventFacts['whatsapp_account.token_expiring']()),
    example: {
      type: 'whatsapp_account.token_expiring',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, expiresAt: '2026-11-27T10:00:00.000Z', daysLeft: 7 },
    },
  },
  'number.quality_changed': {
    event: NumberQualityChangedEvent,
    summary: 'The quality rating of a number changed',
    description: optIn(eventFacts['number.quality_changed']()),
    example: {
      type: 'number.quality_changed',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, qualityRating: 'YELLOW', previousQualityRating: 'GREEN' },
    },
  },
  'endpoint.failing': {
    event: EndpointFailingEvent,
    summary: 'A webhook endpoint fails',
    description: inEnglish(eventFacts['endpoint.failing']()),
    example: {
      type: 'endpoint.failing',
      timestamp: '2026-11-20T09:35:00.000Z',
      data: {
        endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt',
        host: 'hooks.example.com',
        disabled: false,
        failingSince: '2026-11-20T09:30:00.000Z',
      },
    },
  },
  'recipient.opted_out': {
    event: RecipientOptedOutEvent,
    summary: 'A recipient opted out',
    description: optIn(eventFacts['recipient.opted_out']()),
    example: {
      type: 'recipient.opted_out',
      timestamp: '2026-11-20T09:36:12.000Z',
      data: {
        to: exampleFacts.to,
        accountId: exampleFacts.accountId,
        reason: 'reply',
        messageId: exampleFacts.messageId,
        externalId: exampleFacts.externalId,
      },
    },
  },
  'recipient.opted_in': {
    event: RecipientOptedInEvent,
    summary: 'A recipient opted in again',
    description: optIn(eventFacts['recipient.opted_in']()),
    example: {
      type: 'recipient.opted_in',
      timestamp: '2026-11-20T10:02:40.000Z',
      data: { to: exampleFacts.to, accountId: exampleFacts.accountId, reason: 'preference' },
    },
  },
  'template.approved': {
    event: TemplateApprovedEvent,
    summary: 'A template was approved',
    description: optIn(eventFacts['template.approved']()),
    example: { type: 'template.approved', timestamp: '2026-11-20T09:30:00.000Z', data: exampleTemplate },
  },
  'template.rejected': {
    event: TemplateRejectedEvent,
    summary: 'A template was rejected',
    description: optIn(eventFacts['template.rejected']()),
    example: {
      type: 'template.rejected',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, status: 'REJECTED', reason: 'INVALID_FORMAT' },
    },
  },
  'template.paused': {
    event: TemplatePausedEvent,
    summary: 'A template was paused',
    description: optIn(eventFacts['template.paused']()),
    example: {
      type: 'template.paused',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, status: 'PAUSED', qualityScore: 'RED' },
    },
  },
  'template.category_changed': {
    event: TemplateCategoryChangedEvent,
    summary: 'The category of a template changed',
    description: optIn(eventFacts['template.category_changed']()),
    example: {
      type: 'template.category_changed',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, category: 'MARKETING', previousCategory: 'UTILITY' },
    },
  },
  'template.category_changing': {
    event: TemplateCategoryChangingEvent,
    summary: 'The category of a template will change',
    description: optIn(eventFacts['template.category_changing']()),
    example: {
      type: 'template.category_changing',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: {
        ...exampleTemplate,
        newCategory: 'MARKETING',
        takesEffectAt: '2026-11-21T09:00:00.000Z',
        cost: { messages: 1200, amount: '20.4', newAmount: '61.08', currency: 'EUR' },
      },
    },
  },
  'webhook.test': {
    event: TestEvent,
    summary: 'Test event',
    description: inEnglish(eventFacts['webhook.test']()),
    example: {
      type: 'webhook.test',
      timestamp: '2026-11-20T09:25:00.000Z',
      data: { endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt' },
    },
  },
} as const satisfies {
  [Type in WebhookEvent['type']]: {
    event: z.ZodObject
    summary: string
    description: string
    example: Extract<WebhookEvent, { type: Type }>
  }
}

/** The header fields of each attempt (standardwebhooks.com). */
export const WebhookHeaders = z.object({
  'webhook-id': z
    .string()
    .describe('Event ID, the same on every attempt.')
    .meta({ examples: ['evt_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
  'webhook-timestamp': z
    .string()
    .describe('Unix time of this attempt.')
    .meta({ examples: ['1795167002'] }),
  'webhook-signature': z
    .string()
    .describe('`v1,` and the base64 signature; several, space-separated, during a rotation.')
    .meta({ examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='] }),
})
