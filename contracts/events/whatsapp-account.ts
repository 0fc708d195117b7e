import { z } from 'zod'
import { responseField, Timestamp, WhatsAppAccountId, withExample } from '../fields.ts'
import { defineEvent, sharedExample, type Texts } from './event.ts'

const WhatsAppAccountFacts = z.object({
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account.'),
  phoneNumberId: withExample(z.string(), "WhatsApp's ID of the phone number.", '106540352242922'),
  displayPhoneNumber: withExample(
    z.string().optional(),
    'The phone number, as WhatsApp shows it; absent if it is not known.',
    '+34 600 111 222',
  ),
  isDefault: z.boolean().describe('Whether requests without `accountId` use it.'),
})

const ofAccount: Texts = { data: 'The WhatsApp account that it happened to.' }

const example = {
  accountId: sharedExample.accountId,
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '+34 600 111 222',
  isDefault: true,
}

export const WhatsAppAccountInactiveEvent = defineEvent({
  type: 'whatsapp_account.inactive',
  id: 'WhatsAppAccountInactiveEvent',
  summary: 'A WhatsApp account became inactive',
  description: 'A WhatsApp account can no longer send.',
  texts: ofAccount,
  schema: WhatsAppAccountFacts.extend({
    by: z.enum(['whatsapp', 'user']).describe('Who made it inactive.'),
    reason: withExample(z.string(), 'Why, in words.', 'WhatsApp rejected it (190): Access token has expired'),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, by: 'whatsapp', reason: 'WhatsApp rejected it (190): Access token has expired' },
  },
})

export const WhatsAppAccountActiveEvent = defineEvent({
  type: 'whatsapp_account.active',
  id: 'WhatsAppAccountActiveEvent',
  summary: 'A WhatsApp account is active again',
  description: 'A WhatsApp account can send again.',
  texts: ofAccount,
  schema: WhatsAppAccountFacts,
  example: { timestamp: '2026-11-20T09:45:00.000Z', data: example },
})

export const WhatsAppAccountTokenExpiringEvent = defineEvent({
  type: 'whatsapp_account.token_expiring',
  id: 'WhatsAppAccountTokenExpiringEvent',
  summary: 'An access token expires soon',
  description: 'The access token of a WhatsApp account expires soon.',
  texts: ofAccount,
  schema: WhatsAppAccountFacts.extend({
    expiresAt: Timestamp.describe('When the token expires.'),
    daysLeft: withExample(z.int(), 'Whole days until then; 0 on the last day.', 7),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, expiresAt: '2026-11-27T10:00:00.000Z', daysLeft: 7 },
  },
})

const QualityRating = z.enum(['GREEN', 'YELLOW', 'RED'])

export const NumberQualityChangedEvent = defineEvent({
  type: 'number.quality_changed',
  id: 'NumberQualityChangedEvent',
  summary: 'The quality rating of a number changed',
  description: 'WhatsApp changed the quality rating of a phone number.',
  texts: ofAccount,
  schema: WhatsAppAccountFacts.extend({
    qualityRating: QualityRating.describe('The rating now: `GREEN` is high, `RED` is low.'),
    previousQualityRating: QualityRating.describe('The rating before.'),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, qualityRating: 'YELLOW', previousQualityRating: 'GREEN' },
  },
})

/** Events about a WhatsApp account and its phone number. */
export const WhatsAppAccountEvent = z.discriminatedUnion('type', [
  WhatsAppAccountInactiveEvent,
  WhatsAppAccountActiveEvent,
  WhatsAppAccountTokenExpiringEvent,
  NumberQualityChangedEvent,
])
export type WhatsAppAccountEvent = z.infer<typeof WhatsAppAccountEvent>
