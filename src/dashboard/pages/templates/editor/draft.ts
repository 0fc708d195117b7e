import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { translateServerText } from '../../../language/server-text.ts'
import { translate } from '../../../language/i18n.ts'
import type { TemplateComponent } from '../../../../../contracts/api/template.ts'
import {
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

/** What the rules say of each field, by its dotted path, in the order of the form; the first problem of each. */
export function listProblems(template: TemplateDefinition): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const { path, problem } of findTemplateProblems(template))
    // The rule of samples names fields of the API, which this form does not show.
    problems[path.join('.')] ??= path.at(-1) === 'sample' ? translate(noSample) : toSentence(problem)
  return problems
}

function toSentence(problem: string): string {
  const said = problem.replace(/^is required(?: in a (?:button|header) of (?:type|format) \w+)?/, 'required')
  const translated = translateServerText(said)
  return `${translated.charAt(0).toUpperCase()}${translated.slice(1)}.`
}

/** The labels of the form, where they differ from the names of the fields. */
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
/** Numbered items of lists. */
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
  const described = words.join(', ')
  return described.charAt(0).toUpperCase() + described.slice(1)
}

const noSample = msg`Choose a file or enter a link: WhatsApp reviews a sample of the file.`

/** Keeps the examples of the variables that the text has, and adds empty ones for the others. */
export function withBodyText(body: TemplateBodyDefinition | undefined, text: string): TemplateBodyDefinition {
  const keys = listVariables(text)
  if (keys.length === 0) return { text }
  return { text, examples: Object.fromEntries(keys.map((key) => [key, body?.examples?.[key] ?? ''])) }
}

/** The next number of a variable, for the button that inserts one. */
export function nextVariable(text: string): string {
  const numbers = listVariables(text).map(Number).filter(Number.isInteger)
  return String(Math.max(0, ...numbers) + 1)
}

/** WhatsApp writes the text of one-time codes, so a template changes its parts with its category. */
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

/** A product has one button of its own, which other headers do not have. */
export function withProductButton<
  Part extends { header?: TemplateHeaderDefinition | undefined; buttons?: TemplateButtonDefinition[] | undefined },
>(part: Part, before: TemplateHeaderDefinition | undefined): Part {
  const isProduct = part.header?.format === 'PRODUCT'
  if (isProduct === (before?.format === 'PRODUCT')) return part
  const { buttons: _, ...rest } = part
  return (isProduct ? { ...rest, buttons: [newButton('SPM')] } : rest) as Part
}

/** A new button of a kind, with the fields that it requires. */
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

/** What is shown of a one-time code; WhatsApp's own text is in the language of the template. */
function previewCode({ authentication }: TemplateDefinition): TemplateComponent[] {
  const { addSecurityRecommendation, expirationMinutes, otpType, text, autofillText } = authentication ?? {}
  const body = '*{{1}}* is your verification code.'
  const label = otpType === 'COPY_CODE' ? (text ?? 'Copy code') : (autofillText ?? 'Autofill')
  return [
    {
      type: 'BODY',
      text: addSecurityRecommendation ? `${body} For your security, do not share this code.` : body,
    },
    ...(expirationMinutes === undefined
      ? []
      : [{ type: 'FOOTER', text: `This code expires in ${expirationMinutes} minutes.` }]),
    ...(otpType === 'ZERO_TAP' ? [] : [{ type: 'BUTTONS', buttons: [{ type: 'OTP', text: label }] }]),
  ]
}

const fixedLabels: Partial<Record<TemplateButtonType, MessageDescriptor>> = {
  COPY_CODE: msg`Copy offer code`,
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

/** An empty bubble would look like a fault. */
const emptyBody = (): TemplateBodyDefinition => ({ text: t`_Your message appears here._` })

/** A draft in the form that the preview shows. */
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

/** The cards of a carousel have variables of their own. */
function fillBody({ text, examples = {} }: TemplateBodyDefinition): TemplateBodyDefinition {
  return { text: text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, key: string) => examples[key] || whole) }
}

/** The values with which the preview is filled. */
export function previewValues({ authentication, body }: TemplateDefinition): Record<string, string> {
  return authentication ? { '1': '123456' } : (body?.examples ?? {})
}

/** Leaves out what is empty, so that an untouched field does not count as given. */
export function toSubmission(template: TemplateDefinition): TemplateDefinition {
  return withoutEmpty(template) as TemplateDefinition
}

/** Required in every object that has them, so that the rules see them empty. */
const required = new Set(['name', 'packageName', 'signatureHash'])

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  // The text of a header, a button or a code is optional; that of a body or an offer is not.
  const isTextOptional = 'format' in value || 'type' in value || 'otpType' in value
  const entries = Object.entries(value).filter(
    ([key, inner]) => inner !== '' || required.has(key) || (key === 'text' && !isTextOptional),
  )
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmpty(inner)]))
}
