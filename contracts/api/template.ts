import { z } from 'zod'
import {
  cursor,
  LanguageCode,
  namedObject,
  NextCursor,
  PageLimit,
  responseField,
  singleLine,
  TemplateName,
  Timestamp,
  WhatsAppAccountId,
  withExample,
} from '../fields.ts'
import { procedure } from '../procedure.ts'
import type { SendMessageRequest } from './message.ts'

export const Placeholder = namedObject(
  'Placeholder',
  'One placeholder of a template body, which a send fills with a variable.',
  {
    key: withExample(z.string(), 'Key to use in `variables`: the number of the placeholder, or its name.', '1'),
    example: withExample(
      z.string().optional(),
      'Example value given when the template was submitted for approval.',
      'Ada',
    ),
  },
)
export type Placeholder = z.infer<typeof Placeholder>

export const TemplateButton = namedObject('TemplateButton', 'One button of a template.', {
  type: withExample(
    z.string(),
    '`QUICK_REPLY`, `URL`, `PHONE_NUMBER` or another type that WhatsApp defines.',
    'QUICK_REPLY',
  ),
  text: withExample(z.string().optional(), 'Button label.', 'Track my order'),
  url: withExample(
    z.string().optional(),
    'Address of a URL button; a send fills its placeholder.',
    'https://example.com/track/{{1}}',
  ),
})

const componentShape = {
  type: withExample(
    z.string(),
    '`HEADER`, `BODY`, `FOOTER`, `BUTTONS`, `CAROUSEL` or `LIMITED_TIME_OFFER`; WhatsApp may add others.',
    'BODY',
  ),
  format: withExample(
    z.string().optional(),
    'Of a header: `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, `LOCATION` or `PRODUCT`.',
    'TEXT',
  ),
  text: withExample(
    z.string().optional(),
    'Text with its placeholders.',
    'Hello {{1}}, your order {{2}} is on its way.',
  ),
  buttons: z.array(TemplateButton).optional().describe('Of the component `BUTTONS`.'),
}

export const TemplateCard = namedObject('TemplateCard', 'One card of a carousel.', {
  components: z
    .array(namedObject('TemplateCardComponent', 'One part of a card.', componentShape))
    .describe('The parts of the card.'),
})

export const TemplateComponent = namedObject('TemplateComponent', 'One part of a template, as WhatsApp approved it.', {
  ...componentShape,
  cards: z.array(TemplateCard).optional().describe('Of the component `CAROUSEL`.'),
})
export type TemplateComponent = z.infer<typeof TemplateComponent>

/**
 * In `openapi.json`, the example is an open object, because responses must be extensible and requests are not. In our
 * TypeScript types, it is a request that `message.send` accepts.
 */
const TemplateExample = z.record(z.string(), z.unknown()) as unknown as z.ZodType<SendMessageRequest>

export const Template = namedObject(
  'Template',
  'A template as WhatsApp keeps it, with the variables that a send of it needs.',
  {
    name: responseField(TemplateName),
    language: responseField(LanguageCode),
    status: withExample(z.string(), 'Approval status as WhatsApp names it. Only `APPROVED` can be sent.', 'APPROVED'),
    category: withExample(
      z.string().optional(),
      '`AUTHENTICATION`, `MARKETING` or `UTILITY`; WhatsApp may add others.',
      'UTILITY',
    ),
    sendable: z.boolean().describe('Whether a send of this template is accepted now.'),
    reason: withExample(
      z.string().optional(),
      'Why the template cannot be sent; present only when `sendable` is false.',
      'its status is PAUSED',
    ),
    rejectedReason: withExample(
      z.string().optional(),
      "WhatsApp's reason for rejecting it, such as `INVALID_FORMAT`; absent if it was not rejected.",
      'INVALID_FORMAT',
    ),
    placeholders: z.array(Placeholder).describe('The variables a send needs, in order.'),
    components: z.array(TemplateComponent).describe('The parts of the template.'),
    example: TemplateExample.optional().describe(
      'A `message.send` request for this template, filled in: replace the recipient, the values and the links. Absent when no send can fill the template.',
    ),
    sendSchema: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('JSON Schema of a `message.send` request for this template. Absent when no send can fill it.'),
    syncedAt: Timestamp.describe('When the template was last read from WhatsApp.'),
  },
)
export type Template = z.infer<typeof Template>

export const TemplatePage = namedObject('TemplatePage', 'One page of templates.', {
  items: z.array(Template).describe('By name, then language.'),
  nextCursor: NextCursor.optional().meta({ examples: ['order_shipped.en'] }),
})
export type TemplatePage = z.infer<typeof TemplatePage>

const exampleTemplate = {
  name: 'order_shipped',
  language: 'en',
  status: 'APPROVED',
  category: 'UTILITY',
  sendable: true,
  placeholders: [
    { key: '1', example: 'Ada' },
    { key: '2', example: 'WB-1042' },
  ],
  components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
  example: { to: '34600111222', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } },
  sendSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      to: { type: 'string' },
      recipient: { type: 'string' },
      template: { const: 'order_shipped' },
      language: { const: 'en' },
      variables: {
        type: 'object',
        properties: { '1': { type: 'string', minLength: 1 }, '2': { type: 'string', minLength: 1 } },
        required: ['1', '2'],
        additionalProperties: false,
      },
    },
    required: ['template', 'language', 'variables'],
    additionalProperties: false,
    anyOf: [{ required: ['to'] }, { required: ['recipient'] }],
  },
  syncedAt: '2026-11-20T09:00:00.000Z',
}

export const getTemplate = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/template/{name}/{language}',
  tag: 'Templates',
  summary: 'Get one template with the placeholders it needs',
  description:
    'Returns one template of the WhatsApp account, sendable or not, with the variables that a send of it needs.',
  input: z.strictObject({ name: TemplateName, language: LanguageCode, accountId: WhatsAppAccountId.optional() }),
  output: Template,
  errors: ['TEMPLATE_NOT_FOUND', 'NO_ACTIVE_ACCOUNT'],
  example: {
    input: { name: 'order_shipped', language: 'en' },
    output: exampleTemplate,
    errors: {
      VALIDATION_ERROR: 'language: must be a template language code such as en or en_US (with an underscore).',
    },
  },
})

export const listTemplates = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/template',
  tag: 'Templates',
  summary: 'List templates with the placeholders they need',
  description: 'Lists the templates of the WhatsApp account by name and language, one page at a time.',
  input: z.strictObject({
    status: withExample(singleLine(64).optional(), 'Only templates with this status, such as `APPROVED`.', 'APPROVED'),
    accountId: WhatsAppAccountId.optional(),
    cursor: cursor(/^[^.\x00-\x1f\x7f]+[.][^.\x00-\x1f\x7f]+$/)
      .optional()
      .meta({ examples: ['order_shipped.en'] }),
    limit: PageLimit,
  }),
  output: TemplatePage,
  errors: ['NO_ACTIVE_ACCOUNT'],
  example: {
    input: { status: 'APPROVED' },
    output: { items: [exampleTemplate] },
    errors: { VALIDATION_ERROR: 'limit: must be at most 100.' },
  },
})
