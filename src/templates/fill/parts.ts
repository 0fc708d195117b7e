import type { Fact } from '../../../contracts/facts/fact.ts'
import { unsupportedTemplate } from '../../../contracts/facts/template-refusals.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { listKeys, type TemplateText } from '../placeholders.ts'

/** The parts of a message or card that a send can fill, besides the variables of the body. */
export interface SectionParts {
  header: HeaderPart | undefined
  /** All buttons, by index. */
  buttons: readonly ButtonPart[]
  /** WhatsApp's limit for the filled-in body, if it is lower than usual. */
  maxBodyCharacters: number | undefined
}

export interface CardPart extends SectionParts {
  text: TemplateText
}

export interface TemplateParts extends SectionParts {
  /** The button of a one-time code, in an AUTHENTICATION template. */
  codeButton: ButtonPart | undefined
  /** The cards of a carousel. */
  cards: readonly CardPart[] | undefined
  /** Text of a limited-time offer, and whether a send must set its end. */
  offer: { text: string; hasExpiration: boolean } | undefined
  /** Why no send can fill this template; undefined if one can. */
  unsupported: Fact | undefined
}

export type HeaderPart =
  /** `name` is set for a named variable only. */
  | { kind: 'text'; text: string; key: string; name: string | undefined; example: string | undefined }
  | { kind: 'image' | 'video' | 'document' | 'location' | 'product' }

/** The field with the value of a button; `nothing` if the button takes no value. */
export type ButtonField = 'url' | 'payload' | 'couponCode' | 'flow' | 'products' | 'code' | 'nothing'

export interface ButtonPart {
  index: number
  type: string
  label: string
  field: ButtonField
  isRequired: boolean
  /** URL of a URL button; undefined for the button of a one-time code, whose URL recipients never see. */
  url: string | undefined
  /** As WhatsApp lists it. */
  example: string | undefined
}

const partsOf = new WeakMap<TemplateText, TemplateParts>()

/** The result is cached per template object, which the sends of a batch share. */
export function listTemplateParts(template: TemplateText): TemplateParts {
  let parts = partsOf.get(template)
  if (!parts) {
    parts = readParts(template)
    partsOf.set(template, parts)
  }
  return parts
}

/** Reference, sections 1.5 and 1.6. */
const maxBodyCharacters = { singleProduct: 160, limitedTimeOffer: 600, card: 160 }

function readParts({ components, parameterFormat }: TemplateText): TemplateParts {
  const section = readSection(components, parameterFormat)
  const offer = readOffer(components.find(({ type }) => type === 'LIMITED_TIME_OFFER'))
  const cards = components.find(({ type }) => type === 'CAROUSEL')?.cards
  const cardSections = cards?.map((card) => ({
    text: { components: card.components, parameterFormat },
    ...readSection(card.components, parameterFormat),
    maxBodyCharacters: maxBodyCharacters.card,
  }))
  const unknown = components.find((component) => !isKnown(component))
  return {
    ...section,
    ...(offer && { maxBodyCharacters: maxBodyCharacters.limitedTimeOffer }),
    codeButton: section.buttons.find(({ field }) => field === 'code'),
    cards: cardSections,
    offer,
    unsupported:
      section.unsupported ??
      cardSections?.find((card) => card.unsupported !== undefined)?.unsupported ??
      (unknown && unsupportedTemplate.component({ type: unknown.type })),
  }
}

/** Buttons that take no value, or may be sent without one. */
const plainButtons = new Set(['QUICK_REPLY', 'PHONE_NUMBER', 'URL', 'REQUEST_CONTACT_INFO'])

/** Returns whether variables alone fill the template. A quick check for most sends, which returns false in doubt. */
export function takesOnlyVariables(components: readonly StoredComponent[]): boolean {
  return components.every(takesNoOtherValue)
}

function takesNoOtherValue({ type, format = 'TEXT', text, buttons }: StoredComponent): boolean {
  if (type === 'BODY' || type === 'FOOTER') return true
  if (type === 'HEADER') return format === 'TEXT' && text?.includes('{{') !== true
  if (type !== 'BUTTONS') return false
  return buttons?.every((button) => plainButtons.has(button.type) && button.url?.includes('{{') !== true) === true
}

const knownComponents = new Set([
  'HEADER',
  'BODY',
  'FOOTER',
  'BUTTONS',
  'LIMITED_TIME_OFFER',
  'CALL_PERMISSION_REQUEST',
])

function isKnown({ type, cards }: StoredComponent): boolean {
  return knownComponents.has(type) || (type === 'CAROUSEL' && cards !== undefined && cards.length > 0)
}

function readSection(
  components: StoredComponent[],
  parameterFormat: string,
): SectionParts & { unsupported: Fact | undefined } {
  const header = readHeader(
    components.find(({ type }) => type === 'HEADER'),
    parameterFormat,
  )
  const buttons = readButtons(components)
  const unsupported = isUnsupported(header) ? header : findUnsupportedButton(buttons)
  return {
    header: isUnsupported(header) ? undefined : header,
    buttons,
    maxBodyCharacters: buttons.some(({ type }) => type === 'SPM') ? maxBodyCharacters.singleProduct : undefined,
    unsupported,
  }
}

function readOffer(component: StoredComponent | undefined): TemplateParts['offer'] {
  const offer = component?.['limited_time_offer']
  if (typeof offer !== 'object' || offer === null) return undefined
  const text = 'text' in offer && typeof offer.text === 'string' ? offer.text : ''
  return { text, hasExpiration: 'has_expiration' in offer && offer.has_expiration === true }
}

const headerKinds: Partial<Record<string, Exclude<HeaderPart['kind'], 'text'>>> = {
  IMAGE: 'image',
  VIDEO: 'video',
  DOCUMENT: 'document',
  LOCATION: 'location',
  PRODUCT: 'product',
}

function isUnsupported(header: HeaderPart | Fact | undefined): header is Fact {
  return header !== undefined && 'code' in header
}

/** Returns a fact that says why the header cannot be filled. */
function readHeader(header: StoredComponent | undefined, parameterFormat: string): HeaderPart | Fact | undefined {
  const { format = 'TEXT', text = '' } = header ?? {}
  if (format !== 'TEXT') {
    const kind = headerKinds[format]
    return kind ? { kind } : unsupportedTemplate.headerFormat({ format })
  }
  const keys = listKeys(text)
  const [key] = keys
  if (key === undefined) return /\{\{.*?\}\}/.test(text) ? unsupportedTemplate.headerVariable() : undefined
  if (keys.length > 1) return unsupportedTemplate.headerVariables()
  const name = parameterFormat === 'NAMED' ? key : undefined
  return { kind: 'text', text, key, name, example: readHeaderExample(header?.example) }
}

/** `header_text: ["May"]`, or `header_text_named_params: [{ param_name, example }]` (reference, section 2). */
function readHeaderExample(example: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const first = firstOf(example?.['header_text']) ?? firstOf(example?.['header_text_named_params'])
  if (typeof first === 'string') return first
  const named = typeof first === 'object' && first !== null && 'example' in first ? first.example : undefined
  return typeof named === 'string' ? named : undefined
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function readButtons(components: StoredComponent[]): ButtonPart[] {
  return components
    .flatMap(({ type, buttons }) => (type === 'BUTTONS' ? (buttons ?? []) : []))
    .map((button, index) => {
      const { type, text, url } = button
      const field = fieldOf(type, url)
      const example = firstOf(button['example'])
      return {
        index,
        type,
        label: text ?? type,
        field,
        isRequired: requiredFields.has(field) || type === 'MPM',
        url: field === 'code' ? undefined : url,
        example: typeof example === 'string' ? example : undefined,
      }
    })
}

/** Reference, section 1.3. Every other type of button takes no value. */
const fields: Partial<Record<string, ButtonField>> = {
  QUICK_REPLY: 'payload',
  COPY_CODE: 'couponCode',
  FLOW: 'flow',
  CATALOG: 'products',
  MPM: 'products',
  OTP: 'code',
}
const requiredFields = new Set<ButtonField>(['url', 'couponCode', 'code'])

/** WhatsApp lists the button of a one-time code as a URL button with this URL (reference, section 2). */
const codeUrl = /^https:\/\/(?:www\.)?whatsapp\.com\/otp\/code/

function fieldOf(type: string, url: string | undefined): ButtonField {
  if (type !== 'URL') return fields[type] ?? 'nothing'
  if (url === undefined || !url.includes('{{')) return 'nothing'
  return codeUrl.test(url) ? 'code' : 'url'
}

function findUnsupportedButton(buttons: ButtonPart[]): Fact | undefined {
  const unsupported = buttons.find(
    ({ type, field, url = '' }) => type === 'ORDER_DETAILS' || (field === 'url' && listKeys(url).length !== 1),
  )
  return unsupported && unsupportedTemplate.buttonParameter({ type: unsupported.type })
}
