import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import {
  LanguageCode,
  namedStrictObject,
  nonEmptyText,
  publicAddress,
  singleLine,
  textUpTo,
  withExample,
} from '../fields.ts'

/** WhatsApp's limits for the texts of a template (Meta, "Template components" and the pages of each kind). */
export const templateLimits = {
  nameCharacters: 512,
  headerCharacters: 60,
  bodyCharacters: 1024,
  footerCharacters: 60,
  offerBodyCharacters: 600,
  offerCharacters: 16,
  cardBodyCharacters: 160,
  productBodyCharacters: 160,
  labelCharacters: 25,
  urlCharacters: 2000,
  phoneNumberCharacters: 20,
  couponCodeCharacters: 20,
  buttons: 10,
  cards: 10,
  cardButtons: 2,
  apps: 5,
  maxExpirationMinutes: 90,
} as const

export const templateCategories = ['AUTHENTICATION', 'MARKETING', 'UTILITY'] as const
export type TemplateCategory = (typeof templateCategories)[number]

/** Longer than any text of a template may be, so that `findTemplateProblems` reports the real limit of each. */
const maxCharacters = 8192

/** `findTemplateProblems` enforces the maximum length; here, it is only documented in JSON Schema. */
function text(characters: number) {
  return nonEmptyText(maxCharacters).meta({ maxLength: characters })
}

const Example = text(templateLimits.bodyCharacters).describe('Value that shows the reviewer how it is filled.')

const Label = withExample(text(templateLimits.labelCharacters), 'Button label, without variables.', 'Track my order')

export const TemplateSample = namedStrictObject(
  'TemplateSample',
  'A sample file for the reviewer: either `link` or `handle`.',
  {
    link: withExample(
      textUpTo(4096).regex(publicAddress, 'must be a public https address, such as https://…/sample.pdf').optional(),
      'Public address of the sample. Waybill downloads it and uploads it to WhatsApp.',
      'https://example.com/invoice.pdf',
    ),
    handle: withExample(
      z
        .string()
        .regex(/^[\x21-\x7e]{1,4096}$/, 'must be the handle that WhatsApp gave for an uploaded sample')
        .optional(),
      'Handle of a sample that was uploaded to WhatsApp with the resumable upload API.',
      '4::aW1hZ2UvanBlZw==',
    ),
  },
)
export type TemplateSample = z.infer<typeof TemplateSample>

export const TemplateHeaderDefinition = namedStrictObject('TemplateHeaderDefinition', 'Header of a template.', {
  format: withExample(
    z.enum(['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION', 'PRODUCT']),
    'What the header shows. `PRODUCT`: a product of your catalogue, which each send names.',
    'TEXT',
  ),
  text: withExample(
    text(templateLimits.headerCharacters).optional(),
    'Of the format `TEXT`: the text, with at most one variable.',
    'Order {{1}}',
  ),
  example: withExample(Example.optional(), 'Example value of the variable in `text`.', 'WB-1042'),
  sample: TemplateSample.optional().describe('Of the formats `IMAGE`, `VIDEO` and `DOCUMENT`.'),
})
export type TemplateHeaderDefinition = z.infer<typeof TemplateHeaderDefinition>

export const TemplateBodyDefinition = namedStrictObject('TemplateBodyDefinition', 'Body of a template.', {
  text: withExample(
    text(templateLimits.bodyCharacters),
    'Text with its variables: numbered (`{{1}}`) or named (`{{first_name}}`), not both.',
    'Hello {{1}}, your order {{2}} is on its way.',
  ),
  examples: withExample(
    z.record(z.string(), Example).optional(),
    'Example value of each variable, by its number or name.',
    { '1': 'Ada', '2': 'WB-1042' },
  ),
})
export type TemplateBodyDefinition = z.infer<typeof TemplateBodyDefinition>

export const buttonTypes = [
  'QUICK_REPLY',
  'URL',
  'PHONE_NUMBER',
  'COPY_CODE',
  'FLOW',
  'VOICE_CALL',
  'REQUEST_CONTACT_INFO',
  'CATALOG',
  'MPM',
  'SPM',
] as const
export type TemplateButtonType = (typeof buttonTypes)[number]

export const TemplateButtonDefinition = namedStrictObject('TemplateButtonDefinition', 'One button of a template.', {
  type: withExample(z.enum(buttonTypes), 'What the button does.', 'URL'),
  text: Label.optional().describe(
    'Label. `COPY_CODE`, `REQUEST_CONTACT_INFO`, `CATALOG`, `MPM` and `SPM` have a fixed label of WhatsApp.',
  ),
  url: withExample(
    text(templateLimits.urlCharacters).optional(),
    'Of `URL`: the address; a variable may stand at its end only.',
    'https://example.com/track/{{1}}',
  ),
  phoneNumber: withExample(
    text(templateLimits.phoneNumberCharacters).optional(),
    'Of `PHONE_NUMBER`: the number to call, with its country code.',
    '+34600111222',
  ),
  example: withExample(
    text(templateLimits.urlCharacters).optional(),
    'Of `URL` with a variable: an example of its value. Of `COPY_CODE`: an example of the code.',
    'WB-1042',
  ),
  flowId: withExample(text(64).optional(), 'Of `FLOW`: ID of the published flow.', '1039484737'),
  flowAction: z
    .enum(['navigate', 'data_exchange'])
    .optional()
    .describe('Of `FLOW`: `navigate` opens a screen, `data_exchange` asks your endpoint first.'),
  navigateScreen: text(200).optional().describe('Of `FLOW` with `navigate`: the first screen.'),
})
export type TemplateButtonDefinition = z.infer<typeof TemplateButtonDefinition>

export const TemplateCardDefinition = namedStrictObject('TemplateCardDefinition', 'One card of a carousel.', {
  header: TemplateHeaderDefinition,
  body: TemplateBodyDefinition.optional(),
  buttons: z
    .array(TemplateButtonDefinition)
    .max(20, problems.atMostEntries({ max: 20 }))
    .optional()
    .describe('One or two buttons, or `SPM` alone on a product; all cards have the same kinds in the same order.'),
})
export type TemplateCardDefinition = z.infer<typeof TemplateCardDefinition>

export const LimitedTimeOfferDefinition = namedStrictObject('LimitedTimeOfferDefinition', 'A limited-time offer.', {
  text: withExample(text(templateLimits.offerCharacters), 'What the offer is.', 'Expiring offer!'),
  expires: z.boolean().optional().describe('Whether each send sets an end that counts down. Default: false.'),
})

export const AuthenticationDefinition = namedStrictObject(
  'AuthenticationDefinition',
  'A one-time code. WhatsApp writes the text of these templates, in each language.',
  {
    otpType: withExample(
      z.enum(['COPY_CODE', 'ONE_TAP', 'ZERO_TAP']),
      'How the code gets into the app: copied, filled in by one tap, or without a tap.',
      'COPY_CODE',
    ),
    addSecurityRecommendation: z
      .boolean()
      .optional()
      .describe('Adds “For your security, do not share this code.” Default: false.'),
    expirationMinutes: withExample(
      z.int(problems.wholeNumber()).optional(),
      'Adds “This code expires in … minutes.” 1 to 90.',
      10,
    ),
    text: Label.optional().describe(
      'Label of the button that copies the code. Default: in the language of the template.',
    ),
    autofillText: withExample(Label.optional(), 'Label of the one-tap button.', 'Autofill'),
    apps: z
      .array(
        z
          .strictObject({
            packageName: withExample(text(224), 'Android package.', 'com.example.shop'),
            signatureHash: withExample(text(11), 'Hash of its signing key.', 'K8a/AINcGX7'),
          })
          .describe('An Android app.'),
      )
      .max(20, problems.atMostEntries({ max: 20 }))
      .optional()
      .describe('Of `ONE_TAP` and `ZERO_TAP`: the apps that take the code, at most 5.'),
    zeroTapTermsAccepted: z
      .boolean()
      .optional()
      .describe('Of `ZERO_TAP`: whether you accept the terms of WhatsApp for zero-tap codes.'),
  },
)
export type AuthenticationDefinition = z.infer<typeof AuthenticationDefinition>

export const NewTemplateName = singleLine(maxCharacters)
  .describe('Name of the template: lower-case letters, digits and underscores.')
  .meta({ maxLength: templateLimits.nameCharacters, examples: ['order_shipped'] })

export const templateDefinitionShape = {
  name: NewTemplateName,
  language: LanguageCode,
  category: withExample(z.enum(templateCategories), 'WhatsApp may assign another category in its review.', 'UTILITY'),
  header: TemplateHeaderDefinition.optional(),
  body: TemplateBodyDefinition.optional().describe('Required, except in the category `AUTHENTICATION`.'),
  footer: withExample(
    text(templateLimits.footerCharacters).optional(),
    'Small text under the body, without variables.',
    'Waybill Demo Shop',
  ),
  buttons: z
    .array(TemplateButtonDefinition)
    .max(50, problems.atMostEntries({ max: 50 }))
    .optional()
    .describe('At most 10. Quick replies stand together, before or after the others.'),
  cards: z
    .array(TemplateCardDefinition)
    .max(50, problems.atMostEntries({ max: 50 }))
    .optional()
    .describe('A carousel of 2 to 10 cards.'),
  limitedTimeOffer: LimitedTimeOfferDefinition.optional(),
  authentication: AuthenticationDefinition.optional().describe('Of the category `AUTHENTICATION`, and of no other.'),
  ttlSeconds: withExample(
    z.int(problems.wholeNumber()).optional(),
    'How long WhatsApp tries to deliver a message: 30 to 900 seconds for `AUTHENTICATION`, 30 to 43200 for `UTILITY`, 43200 to 2592000 for `MARKETING`, where it takes effect only if the business account is onboarded to the Marketing Messages API.',
    600,
  ),
}

/** A template as its author writes it. `findTemplateProblems` checks it against WhatsApp's rules. */
export const TemplateDefinition = namedStrictObject(
  'TemplateDefinition',
  'A template as its author writes it.',
  templateDefinitionShape,
)
export type TemplateDefinition = z.infer<typeof TemplateDefinition>

const variablePattern = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** Lists the distinct variables of a text in order of appearance. */
export function listVariables(text: string): string[] {
  return [...new Set([...text.matchAll(variablePattern)].map(([, key = '']) => key))]
}

/** The example of a variable, which can have the name of an inherited property, such as `constructor`; `''` without one. */
export function exampleOfVariable({ examples = {} }: Pick<TemplateBodyDefinition, 'examples'>, key: string): string {
  return Object.hasOwn(examples, key) ? (examples[key] ?? '') : ''
}

/** Whether the variables of a template are numbered. A template without variables counts as numbered. */
export function isNumbered({
  header,
  body,
  cards = [],
}: Pick<TemplateDefinition, 'header' | 'body' | 'cards'>): boolean {
  const texts = [header?.text, body?.text, ...cards.map((card) => card.body?.text)]
  return texts.flatMap((text) => listVariables(text ?? '')).every((key) => /^\d+$/.test(key))
}

/** WhatsApp's languages (Meta, "Supported languages"). */
export const templateLanguages: readonly string[] = `af sq ar ar_EG ar_AE ar_LB ar_MA ar_QA az be_BY bn bn_IN bg ca
  zh_CN zh_HK zh_TW hr cs da prs_AF nl nl_BE en en_GB en_US en_AE en_AU en_CA en_GH en_IE en_IN en_JM en_MY en_NZ en_QA
  en_SG en_UG en_ZA et fil fi fr fr_BE fr_CA fr_CH fr_CI fr_MA ka de de_AT de_CH el gu ha he hi hu id ga it ja kn kk
  rw_RW ko ky_KG lo lv lt mk ms ml mr nb ps_AF fa pl pt_BR pt_PT pa ro ru sr si_LK sk sl es es_AR es_CL es_CO es_CR
  es_DO es_EC es_HN es_MX es_PA es_PE es_ES es_UY sw sv ta te th tr uk ur uz vi zu`.split(/\s+/)
