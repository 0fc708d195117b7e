import { z } from 'zod'
import { LanguageCode, responseField, TemplateName, Timestamp, WhatsAppAccountId, withExample } from '../fields.ts'
import { CategoryCost } from '../pricing.ts'
import { defineEvent, sharedExample, type Texts } from './event.ts'

const TemplateFacts = z.object({
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  templateId: withExample(z.string(), "WhatsApp's ID of the template.", '1304694804498707'),
  accountIds: withExample(
    z.array(responseField(WhatsAppAccountId)),
    'IDs of the WhatsApp accounts that share the template.',
    ['wa_01kah39zr4e8m5n6p7q8s9t0vw'],
  ),
  status: withExample(z.string(), 'Approval status as WhatsApp names it.', 'APPROVED'),
  category: withExample(z.string().optional(), 'The category that WhatsApp assigned.', 'UTILITY'),
})

const ofTemplate: Texts = { data: 'The template that it happened to.', timestamp: 'When Waybill noticed it.' }

const example = {
  template: 'order_shipped',
  language: 'en',
  templateId: '1304694804498707',
  accountIds: [sharedExample.accountId],
  status: 'APPROVED',
  category: 'UTILITY',
}

export const TemplateApprovedEvent = defineEvent({
  type: 'template.approved',
  id: 'TemplateApprovedEvent',
  summary: 'A template was approved',
  description: 'WhatsApp approved a template.',
  texts: ofTemplate,
  schema: TemplateFacts,
  example: { timestamp: '2026-11-20T09:30:00.000Z', data: example },
})

export const TemplateRejectedEvent = defineEvent({
  type: 'template.rejected',
  id: 'TemplateRejectedEvent',
  summary: 'A template was rejected',
  description: 'WhatsApp rejected a template.',
  texts: ofTemplate,
  schema: TemplateFacts.extend({
    reason: withExample(z.string(), 'Why, as WhatsApp names it.', 'INVALID_FORMAT'),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, status: 'REJECTED', reason: 'INVALID_FORMAT' },
  },
})

export const TemplatePausedEvent = defineEvent({
  type: 'template.paused',
  id: 'TemplatePausedEvent',
  summary: 'A template was paused',
  description: 'WhatsApp paused or disabled a template.',
  texts: ofTemplate,
  schema: TemplateFacts.extend({
    qualityScore: withExample(
      z.string().optional(),
      '`GREEN`, `YELLOW`, `RED` or `UNKNOWN`; absent if it is not known.',
      'RED',
    ),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, status: 'PAUSED', qualityScore: 'RED' },
  },
})

export const TemplateCategoryChangedEvent = defineEvent({
  type: 'template.category_changed',
  id: 'TemplateCategoryChangedEvent',
  summary: 'The category of a template changed',
  description: 'WhatsApp changed the category of a template.',
  texts: ofTemplate,
  schema: TemplateFacts.extend({
    category: withExample(z.string(), 'The new category.', 'MARKETING'),
    previousCategory: withExample(z.string(), 'The category before.', 'UTILITY'),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, category: 'MARKETING', previousCategory: 'UTILITY' },
  },
})

export const TemplateCategoryChangingEvent = defineEvent({
  type: 'template.category_changing',
  id: 'TemplateCategoryChangingEvent',
  summary: 'The category of a template will change',
  description: 'WhatsApp announced another category for a template.',
  texts: ofTemplate,
  schema: TemplateFacts.extend({
    newCategory: withExample(
      z.string(),
      'The announced category. Until then, `category` and the price stay.',
      'MARKETING',
    ),
    takesEffectAt: Timestamp.optional().describe('When it takes effect; absent if WhatsApp did not say it.'),
    cost: CategoryCost.optional(),
  }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: {
      ...example,
      newCategory: 'MARKETING',
      takesEffectAt: '2026-11-21T09:00:00.000Z',
      cost: { messages: 1200, amount: '20.4', newAmount: '61.08', currency: 'EUR' },
    },
  },
})

/** Results of WhatsApp's template reviews, and later changes of a template's status or category. */
export const TemplateEvent = z.discriminatedUnion('type', [
  TemplateApprovedEvent,
  TemplateRejectedEvent,
  TemplatePausedEvent,
  TemplateCategoryChangedEvent,
  TemplateCategoryChangingEvent,
])
export type TemplateEvent = z.infer<typeof TemplateEvent>
