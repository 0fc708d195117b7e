import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { toFormProblem } from '../../../../../contracts/facts/template-problems.ts'
import { capitalize, sayFact, toSentence } from '../../../language/facts.ts'
import { translate } from '../../../language/i18n.ts'
import type { TemplateComponent } from '../../../../../contracts/api/template.ts'
import { codeTexts } from '../../../../../contracts/templates/code-texts.ts'
import {
  exampleOfVariable,
  listVariables,
  type TemplateBodyDefinition,
  type TemplateButtonDefinition,
  type TemplateButtonType,
  type TemplateCardDefinition,
  type TemplateDefinition,
  type TemplateHeaderDefinition,
} from '../../../../../contracts/templates/definition.ts'
import { isSampleFormat } from '../../../../../contracts/templates/samples.ts'
import { findTemplateProblems } from '../../../../../contracts/templates/rules.ts'

/** An empty template. */
export const blankTemplate: TemplateDefinition = {
  name: '',
  language: 'en',
  category: 'UTILITY',
  body: { text: '' },
}

/** The first problem of each field, by dotted path, in the order of the form. */
export function listProblems(template: TemplateDefinition): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const { path, problem } of findTemplateProblems(template))
    // The message for samples names API fields that this form does not have.
    problems[path.join('.')] ??=
      path.at(-1) === 'sample' ? translate(noSample) : toSentence(sayFact(toFormProblem(problem)))
  return problems
}

/** Labels of the form that differ from the field names. */
const fieldLabels: Partial<Record<string, MessageDescriptor>> = {
  name: msg`name`,
  language: msg`language`,
  category: msg`category`,
  header: msg`header`,
  body: msg`body`,
  footer: msg`footer`,
  buttons: msg`buttons`,
  cards: msg`cards`,
  format: msg`format`,
  link: msg`link`,
  example: msg`example`,
  limitedTimeOffer: msg`limited-time offer`,
  authentication: msg`one-time code`,
  expirationMinutes: msg`expiration`,
  autofillText: msg`autofill label`,
  packageName: msg`package name`,
  signatureHash: msg`signature hash`,
  zeroTapTermsAccepted: msg`terms`,
  ttlSeconds: msg`lifetime`,
  phoneNumber: msg`phone number`,
  flowId: msg`flow ID`,
  flowAction: msg`flow action`,
  navigateScreen: msg`first screen`,
  sample: msg`sample file`,
  url: msg`URL`,
}
/** Labels of numbered list items. */
const itemLabels: Partial<Record<string, (number: number) => string>> = {
  buttons: (number) => t`button ${number}`,
  cards: (number) => t`card ${number}`,
  apps: (number) => t`app ${number}`,
}

/** `cards.1.buttons.0.url` becomes `Card 2, button 1, URL`. */
export function describePath(path: string): string {
  const steps = path.split('.')
  const words = steps.flatMap((step, index) => {
    const before = steps[index - 1] ?? ''
    if (before === 'examples') return [t`example of ${`{{${step}}}`}`]
    if (/^\d+$/.test(step)) return [itemLabels[before]?.(Number(step) + 1) ?? `${before} ${Number(step) + 1}`]
    if (step === 'examples' || (itemLabels[step] !== undefined && index < steps.length - 1)) return []
    if (step === 'text') return /^\d+$/.test(before) ? [t`label`] : []
    const label = fieldLabels[step]
    return [label ? translate(label) : step]
  })
  return capitalize(words.join(', '))
}

const noSample = msg`Choose a file or enter a link: WhatsApp reviews a sample of the file.`

/** Keeps the examples of variables in the text, and adds empty ones for new variables. */
export function withBodyText(body: TemplateBodyDefinition | undefined, text: string): TemplateBodyDefinition {
  const keys = listVariables(text)
  if (keys.length === 0) return { text }
  return { text, examples: Object.fromEntries(keys.map((key) => [key, exampleOfVariable(body ?? {}, key)])) }
}

/** The next variable, for the button that inserts one: a number, or a name among named ones, which cannot be mixed. */
export function nextVariable(text: string): string {
  const keys = listVariables(text)
  if (keys.every(isNumber)) return String(Math.max(0, ...keys.map(Number)) + 1)
  let number = keys.length + 1
  while (keys.includes(`variable_${number}`)) number++
  return `variable_${number}`
}

function isNumber(key: string): boolean {
  return /^\d+$/.test(key)
}

/** What a typed name becomes, such as `customer_name` for `Customer name`; undefined if WhatsApp allows no such name. */
export function toVariableName(typed: string): string | undefined {
  const name = typed
    .trim()
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\s-]+/g, '_')
  return /^(?:[a-z]\w*|\d+)$/.test(name) ? name : undefined
}

/** Renames a variable, and keeps its example. */
export function withRenamedVariable(body: TemplateBodyDefinition, from: string, to: string): TemplateBodyDefinition {
  const text = body.text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, key) => (key === from ? `{{${to}}}` : whole))
  const examples = Object.entries(body.examples ?? {}).map(([key, example]) => [key === from ? to : key, example])
  return withBodyText({ text, examples: Object.fromEntries(examples) as Record<string, string> }, text)
}

/** Changes the category and adapts the parts of the template: WhatsApp provides the text of one-time codes. */
export function withCategory(
  template: TemplateDefinition,
  category: TemplateDefinition['category'],
): TemplateDefinition {
  const { name, language } = template
  if (category === 'AUTHENTICATION')
    return { name, language, category, authentication: { otpType: 'COPY_CODE', addSecurityRecommendation: true } }
  const { authentication: _, ...rest } = template
  return { ...rest, category, body: template.body ?? { text: '' } }
}

export function withHeaderFormat(
  format: TemplateHeaderDefinition['format'] | 'NONE',
): TemplateHeaderDefinition | undefined {
  if (format === 'NONE') return undefined
  if (format === 'TEXT') return { format, text: '' }
  return isSampleFormat(format) ? { format, sample: { link: '' } } : { format }
}

/** Adds the SPM button that a product header requires, or removes it for other headers. */
export function withProductButton<
  Part extends { header?: TemplateHeaderDefinition | undefined; buttons?: TemplateButtonDefinition[] | undefined },
>(part: Part, before: TemplateHeaderDefinition | undefined): Part {
  const isProduct = part.header?.format === 'PRODUCT'
  if (isProduct === (before?.format === 'PRODUCT')) return part
  const { buttons: _, ...rest } = part
  return (isProduct ? { ...rest, buttons: [newButton('SPM')] } : rest) as Part
}

/** Creates a button of a type with its required fields. */
export function newButton(type: TemplateButtonType): TemplateButtonDefinition {
  switch (type) {
    case 'URL':
      return { type, text: '', url: '' }
    case 'PHONE_NUMBER':
      return { type, text: '', phoneNumber: '' }
    case 'COPY_CODE':
      return { type, example: '' }
    case 'FLOW':
      return { type, text: '', flowId: '' }
    case 'QUICK_REPLY':
    case 'VOICE_CALL':
      return { type, text: '' }
    case 'REQUEST_CONTACT_INFO':
    case 'CATALOG':
    case 'MPM':
    case 'SPM':
      return { type }
  }
}

export function newCard(): TemplateCardDefinition {
  return {
    header: { format: 'IMAGE', sample: { link: '' } },
    body: { text: '' },
    buttons: [newButton('QUICK_REPLY')],
  }
}

function previewCode({ language, authentication }: TemplateDefinition): TemplateComponent[] {
  const { addSecurityRecommendation, expirationMinutes, otpType, text, autofillText } = authentication ?? {}
  const { body, security, footer, copy, autofill } = codeTexts(language)
  const label = otpType === 'COPY_CODE' ? (text ?? copy) : (autofillText ?? autofill)
  return [
    {
      type: 'BODY',
      text: addSecurityRecommendation ? `${body} ${security}` : body,
    },
    ...(expirationMinutes === undefined ? [] : [{ type: 'FOOTER', text: footer(expirationMinutes) }]),
    ...(otpType === 'ZERO_TAP' ? [] : [{ type: 'BUTTONS', buttons: [{ type: 'OTP', text: label }] }]),
  ]
}

const fixedLabels: Partial<Record<TemplateButtonType, MessageDescriptor>> = {
  COPY_CODE: msg`Copy offer code`,
  REQUEST_CONTACT_INFO: msg`Share Contact Info`,
  CATALOG: msg`View catalog`,
  MPM: msg`View items`,
  SPM: msg`View`,
}

function labelOf(type: TemplateButtonType): string {
  const label = fixedLabels[type]
  return label ? translate(label) : t`Button label`
}

function previewSection({ header, body, buttons }: Pick<TemplateDefinition, 'header' | 'body' | 'buttons'>) {
  return [
    ...(header ? [{ type: 'HEADER', format: header.format, text: header.text ?? '' }] : []),
    ...(body ? [{ type: 'BODY', text: body.text }] : []),
    ...(buttons && buttons.length > 0
      ? [
          {
            type: 'BUTTONS',
            buttons: buttons.map(({ type, text }) => ({ type, text: text || labelOf(type) })),
          },
        ]
      : []),
  ]
}

/** Placeholder text, because an empty bubble would look like an error. */
const emptyBody = (): TemplateBodyDefinition => ({ text: t`_Your message appears here._` })

export function toPreview(template: TemplateDefinition): TemplateComponent[] {
  if (template.authentication) return previewCode(template)
  const { footer, cards, limitedTimeOffer } = template
  return [
    ...(limitedTimeOffer ? [{ type: 'LIMITED_TIME_OFFER', text: limitedTimeOffer.text }] : []),
    ...previewSection({ ...template, ...(template.body?.text === '' && { body: emptyBody() }) }),
    ...(footer === undefined ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(cards
      ? [
          {
            type: 'CAROUSEL',
            cards: cards.map((card) => ({
              components: previewSection({ ...card, ...(card.body && { body: fillBody(card.body) }) }),
            })),
          },
        ]
      : []),
  ]
}

/** Fills the variables of a card, because each card has its own. */
function fillBody(body: TemplateBodyDefinition): TemplateBodyDefinition {
  return {
    text: body.text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, key: string) => exampleOfVariable(body, key) || whole),
  }
}

/** The variable values of the preview. */
export function previewValues({ authentication, body }: TemplateDefinition): Record<string, string> {
  return authentication ? { '1': '123456' } : (body?.examples ?? {})
}

/** Removes empty values, so that untouched fields are not submitted. */
export function toSubmission(template: TemplateDefinition): TemplateDefinition {
  return withoutEmpty(template) as TemplateDefinition
}

/** Fields that are kept when empty, so that validation reports them. */
const required = new Set(['name', 'packageName', 'signatureHash'])

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  // The text is optional for headers, buttons and codes, but required for bodies and offers.
  const isTextOptional = 'format' in value || 'type' in value || 'otpType' in value
  const entries = Object.entries(value).filter(
    ([key, inner]) => inner !== '' || required.has(key) || (key === 'text' && !isTextOptional),
  )
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmpty(inner)]))
}
