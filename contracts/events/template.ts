import { z } from 'zod'
import { LanguageCode, responseField, TemplateName, Timestamp, WhatsAppAccountId } from '../fields.ts'
import { CategoryCost } from '../pricing.ts'
import { defineEvent, sharedExample, type Texts } from './event.ts'

const TemplateFacts = z.object({
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  templateId: z
    .string()
    .describe("WhatsApp's ID of the template.")
    .meta({ examples: ['1304694804498707'] }),
  accountIds: z
    .array(responseField(WhatsAppAccountId))
    .describe('IDs of the WhatsApp accounts that share the template.')
    .meta({ examples: [['wa_01kah39zr4e8m5n6p7q8s9t0vw']] }),
  status: z
    .string()
    .describe('Approval status as WhatsApp names it.')
    .meta({ examples: ['APPROVED'] }),
  category: z
    .string()
    .optional()
    .describe('The category that WhatsApp assigned.')
    .meta({ examples: ['UTILITY'] }),
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
    reason: z
      .string()
      .describe('Why, as WhatsApp names it.')
      .meta({ examples: ['INVALID_FORMAT'] }),
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
    qualityScore: z
      .string()
      .optional()
      .describe('`GREEN`, `YELLOW`, `RED` or `UNKNOWN`; absent if it is not known.')
      .meta({ examples: ['RED'] }),
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
    category: z
      .string()
      .describe('The new category.')
      .meta({ examples: ['MARKETING'] }),
    previousCategory: z
      .string()
      .describe('The category before.')
      .meta({ examples: ['UTILITY'] }),
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
    newCategory: z
      .string()
      .describe('The announced category. Until then, `category` and the price stay.')
      .meta({ examples: ['MARKETING'] }),
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
