import {
  type AuthenticationDefinition,
  buttonTypes,
  exampleOfVariable,
  isNumbered,
  listVariables,
  type TemplateBodyDefinition,
  type TemplateButtonDefinition,
  type TemplateCardDefinition,
  templateCategories,
  type TemplateDefinition,
  type TemplateHeaderDefinition,
} from '../../contracts/templates/definition.ts'
import type { StoredComponent } from '../platform/db/schema.ts'

type GraphButton = NonNullable<StoredComponent['buttons']>[number]

/** Returns a template in WhatsApp's format (reference 2, section 3.1). The handles of all samples must be known. */
export function toComponents(template: TemplateDefinition): StoredComponent[] {
  const { header, body, footer, buttons, cards, limitedTimeOffer, authentication } = template
  if (authentication) return toCodeComponents(authentication)
  const numbered = isNumbered(template)
  return [
    ...(header ? [toHeader(header, numbered)] : []),
    ...(limitedTimeOffer ? [toOffer(limitedTimeOffer)] : []),
    ...(body ? [toBody(body, numbered)] : []),
    ...(footer === undefined ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons ? [{ type: 'BUTTONS', buttons: buttons.map(toButton) }] : []),
    ...(cards ? [{ type: 'CAROUSEL', cards: cards.map((card) => ({ components: toCard(card, numbered) })) }] : []),
  ]
}

export function toParameterFormat(template: TemplateDefinition): 'NAMED' | 'POSITIONAL' {
  return isNumbered(template) ? 'POSITIONAL' : 'NAMED'
}

function toHeader({ format, text, example, sample }: TemplateHeaderDefinition, numbered: boolean): StoredComponent {
  if (format === 'LOCATION' || format === 'PRODUCT') return { type: 'HEADER', format }
  if (format !== 'TEXT')
    return {
      type: 'HEADER',
      format,
      ...(sample?.handle !== undefined && { example: { header_handle: [sample.handle] } }),
    }
  const [key] = listVariables(text ?? '')
  if (key === undefined) return { type: 'HEADER', format, text: text ?? '' }
  const values = numbered
    ? { header_text: [example ?? ''] }
    : { header_text_named_params: [{ param_name: key, example: example ?? '' }] }
  return { type: 'HEADER', format, text: text ?? '', example: values }
}

function toBody(body: TemplateBodyDefinition, numbered: boolean): StoredComponent {
  const { text } = body
  const keys = listVariables(text)
  if (keys.length === 0) return { type: 'BODY', text }
  const example = numbered
    ? { body_text: [keys.toSorted((a, b) => Number(a) - Number(b)).map((key) => exampleOfVariable(body, key))] }
    : { body_text_named_params: keys.map((key) => ({ param_name: key, example: exampleOfVariable(body, key) })) }
  return { type: 'BODY', text, example }
}

function toOffer({ text, expires = false }: NonNullable<TemplateDefinition['limitedTimeOffer']>): StoredComponent {
  return { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text, has_expiration: expires } }
}

function toCard({ header, body, buttons = [] }: TemplateCardDefinition, numbered: boolean): StoredComponent[] {
  return [
    toHeader(header, numbered),
    ...(body ? [toBody(body, numbered)] : []),
    { type: 'BUTTONS', buttons: buttons.map(toButton) },
  ]
}

/** WhatsApp's own labels, which cannot be chosen. */
const fixedLabels: Partial<Record<TemplateButtonDefinition['type'], string>> = {
  REQUEST_CONTACT_INFO: 'Share Contact Info',
  CATALOG: 'View catalog',
  MPM: 'View items',
  SPM: 'View',
}

function toButton(button: TemplateButtonDefinition): GraphButton {
  const { type, text = fixedLabels[type], url, phoneNumber, example, flowId, flowAction, navigateScreen } = button
  return {
    type,
    ...(text !== undefined && { text }),
    ...(url !== undefined && { url }),
    ...(phoneNumber !== undefined && { phone_number: phoneNumber }),
    ...(example !== undefined && { example: type === 'COPY_CODE' ? example : [example] }),
    ...(flowId !== undefined && { flow_id: flowId }),
    ...(flowAction !== undefined && { flow_action: flowAction }),
    ...(navigateScreen !== undefined && { navigate_screen: navigateScreen }),
  }
}

function toCodeComponents(code: AuthenticationDefinition): StoredComponent[] {
  const { otpType, addSecurityRecommendation, expirationMinutes, text, autofillText, apps, zeroTapTermsAccepted } = code
  const button = {
    type: 'OTP',
    otp_type: otpType,
    ...(text !== undefined && { text }),
    ...(autofillText !== undefined && { autofill_text: autofillText }),
    ...(zeroTapTermsAccepted !== undefined && { zero_tap_terms_accepted: zeroTapTermsAccepted }),
    ...(apps && {
      supported_apps: apps.map((app) => ({ package_name: app.packageName, signature_hash: app.signatureHash })),
    }),
  }
  return [
    { type: 'BODY', add_security_recommendation: addSecurityRecommendation ?? false },
    ...(expirationMinutes === undefined ? [] : [{ type: 'FOOTER', code_expiration_minutes: expirationMinutes }]),
    { type: 'BUTTONS', buttons: [button] },
  ]
}

/** A template as WhatsApp lists it. */
interface ListedText {
  name: string
  language: string
  category: string | null
  components: StoredComponent[]
}

/**
 * The reverse: returns the definition of a listed template, or the reason why it cannot be represented. Samples are left
 * out, because the URL that WhatsApp lists expires.
 */
export function toDefinition({ name, language, category, components }: ListedText): TemplateDefinition | string {
  const known = templateCategories.find((one) => one === category)
  if (!known) return `its category ${category ?? ''} is unknown`
  const start = { name, language, category: known }
  if (known === 'AUTHENTICATION') {
    const authentication = readCode(components)
    return typeof authentication === 'string' ? authentication : { ...start, authentication }
  }
  const find = (type: string) => components.find((component) => component.type === type)
  const section = readSection(components)
  if (typeof section === 'string') return section
  const cards = find('CAROUSEL')?.cards?.map((card) => readCard(card.components))
  const problem = cards?.find((card) => typeof card === 'string')
  if (problem !== undefined) return problem
  const unknown = components.find(({ type }) => !readable.has(type))
  if (unknown) return `it has a component of type ${unknown.type}`
  const footer = find('FOOTER')?.text
  const offer = readOffer(find('LIMITED_TIME_OFFER'))
  return {
    ...start,
    ...section,
    ...(footer !== undefined && { footer }),
    ...(cards && { cards: cards.filter((card) => typeof card !== 'string') }),
    ...(offer && { limitedTimeOffer: offer }),
  }
}

const readable = new Set(['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'])

type Section = Pick<TemplateDefinition, 'header' | 'body' | 'buttons'>

function readSection(components: StoredComponent[]): Section | string {
  const find = (type: string) => components.find((component) => component.type === type)
  const listed = find('HEADER')
  const header = listed && readHeader(listed)
  if (typeof header === 'string') return header
  const body = find('BODY')
  const buttons = find('BUTTONS')?.buttons?.map(readButton)
  const unknown = buttons?.find((button) => typeof button === 'string')
  if (unknown !== undefined) return unknown
  const kinds = find('BUTTONS')?.buttons?.map(({ type }) => type.toUpperCase()) ?? []
  // The only documented form, and the only one that a definition may have.
  if (header?.format === 'PRODUCT' && kinds.join() !== 'SPM')
    return 'it has a header of format PRODUCT without an SPM button alone'
  if (header?.format !== 'PRODUCT' && kinds.includes('SPM')) return 'it has an SPM button without a product'
  return {
    ...(header && { header }),
    ...(body && { body: readBody(body) }),
    ...(buttons && { buttons: buttons.filter((button) => typeof button !== 'string') }),
  }
}

function readCard(components: StoredComponent[]): TemplateCardDefinition | string {
  const section = readSection(components)
  if (typeof section === 'string') return section
  const { header, ...rest } = section
  if (header?.format === 'PRODUCT' && rest.body) return 'it has a product card with a text'
  return header ? { header, ...rest } : 'it has a card without a header'
}

const headerFormats = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION', 'PRODUCT'] as const

function readHeader({ format = 'TEXT', text, example }: StoredComponent): TemplateHeaderDefinition | string {
  const known = headerFormats.find((one) => one === format.toUpperCase())
  if (!known) return `it has a header of format ${format}`
  if (known !== 'TEXT') return { format: known }
  const value = firstOf(example?.['header_text']) ?? exampleOf(firstOf(example?.['header_text_named_params']))
  return { format: known, text: text ?? '', ...(typeof value === 'string' && { example: value }) }
}

function readBody({ text = '', example }: StoredComponent): TemplateBodyDefinition {
  const keys = listVariables(text)
  if (keys.length === 0) return { text }
  const named = example?.body_text_named_params ?? []
  const values = example?.body_text?.[0] ?? []
  const entries = keys.flatMap((key) => {
    const value = /^\d+$/.test(key)
      ? values[Number(key) - 1]
      : named.find(({ param_name }) => param_name === key)?.example
    return value === undefined ? [] : [[key, value] as const]
  })
  return { text, ...(entries.length > 0 && { examples: Object.fromEntries(entries) }) }
}

function readButton(button: GraphButton): TemplateButtonDefinition | string {
  const type = buttonTypes.find((one) => one === button.type.toUpperCase())
  if (!type) return `it has a button of type ${button.type}`
  const { text, url } = button
  const hasLabel = type !== 'COPY_CODE' && fixedLabels[type] === undefined
  const phone = button['phone_number']
  const example = firstOf(button['example'])
  const flowAction = (['navigate', 'data_exchange'] as const).find(
    (one) => one === textOf(button['flow_action']).toLowerCase(),
  )
  return {
    type,
    ...(hasLabel && text !== undefined && { text }),
    ...(type === 'URL' && url !== undefined && { url }),
    ...(type === 'PHONE_NUMBER' && typeof phone === 'string' && { phoneNumber: phone }),
    ...(typeof example === 'string' && (type === 'URL' || type === 'COPY_CODE') && { example: cutBase(example, url) }),
    ...(type === 'FLOW' && {
      ...(textOf(button['flow_id']) !== '' && { flowId: textOf(button['flow_id']) }),
      ...(flowAction && { flowAction }),
      ...(typeof button['navigate_screen'] === 'string' && { navigateScreen: button['navigate_screen'] }),
    }),
  }
}

/** WhatsApp lists the example of a URL either in full or as the variable's value only. */
export function cutBase(example: string, url: string | undefined): string {
  const base = url?.replace(/\{\{[^{}]*\}\}$/, '') ?? ''
  return base !== '' && example.startsWith(base) && example.length > base.length ? example.slice(base.length) : example
}

function readOffer(component: StoredComponent | undefined): TemplateDefinition['limitedTimeOffer'] {
  const offer = component?.['limited_time_offer']
  if (typeof offer !== 'object' || offer === null || !('text' in offer) || typeof offer.text !== 'string')
    return undefined
  return { text: offer.text, ...('has_expiration' in offer && offer.has_expiration === true && { expires: true }) }
}

const otpTypes = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'] as const

/** WhatsApp lists the button of a code as a URL button, with its kind in the query (reference 2, section 2). */
function readCode(components: StoredComponent[]): AuthenticationDefinition | string {
  const find = (type: string) => components.find((component) => component.type === type)
  const button = find('BUTTONS')?.buttons?.[0]
  const query = URL.parse(button?.url ?? '')?.searchParams
  const type = (textOf(button?.['otp_type']) || query?.get('otp_type') || '').toUpperCase()
  const otpType = otpTypes.find((one) => one === type)
  if (!otpType) return 'its one-time code has a button of an unknown kind'
  const minutes = find('FOOTER')?.['code_expiration_minutes']
  const apps = readApps(button?.['supported_apps'])
  return {
    otpType,
    ...(find('BODY')?.['add_security_recommendation'] === true && { addSecurityRecommendation: true }),
    ...(typeof minutes === 'number' && { expirationMinutes: minutes }),
    ...(button?.text !== undefined && { text: button.text }),
    ...(typeof button?.['autofill_text'] === 'string' && { autofillText: button['autofill_text'] }),
    ...(apps && { apps }),
    ...(otpType === 'ZERO_TAP' && { zeroTapTermsAccepted: true }),
  }
}

function readApps(value: unknown): AuthenticationDefinition['apps'] {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((app: Record<string, unknown> | null) => {
    const { package_name: packageName, signature_hash: signatureHash } = app ?? {}
    return typeof packageName === 'string' && typeof signatureHash === 'string' ? [{ packageName, signatureHash }] : []
  })
}

/** WhatsApp lists some IDs as numbers. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value[0] as unknown) : value
}

function exampleOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'example' in value ? value.example : undefined
}
