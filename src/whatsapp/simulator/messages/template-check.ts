import type { StoredComponent } from '../../../platform/db/schema.ts'
import { fail, failWith } from '../errors.ts'
import type { SimulatedResponse } from '../exchange.ts'
import type { GraphTemplate } from '../templates/template-list.ts'
import {
  checkValue,
  countMismatch,
  invalidValue,
  lengthWithoutPlaceholders,
  type Parameter,
  parameterProblem,
  placeholdersOf,
  requiredMissing,
  type SectionComponents,
  type SendComponents,
  type SentButton,
} from './send-components.ts'

/** Returns the error for a send that does not match the template; undefined if it matches. */
export function checkTemplate(template: GraphTemplate, components: SendComponents): SimulatedResponse | undefined {
  const section = components.filter((component) => isOfSection(component))
  return (
    checkStatus(template) ??
    checkSection(template, section, maxBodyLengthOf(template)) ??
    checkCode(template, section) ??
    checkOffer(template, components) ??
    checkCards(template, components)
  )
}

function isOfSection(component: SendComponents[number]): component is SectionComponents[number] {
  return component.type === 'header' || component.type === 'body' || component.type === 'button'
}

/** Checks what a message and a card of a carousel have in common. */
function checkSection(
  template: GraphTemplate,
  components: SectionComponents,
  maxBody: number,
): SimulatedResponse | undefined {
  return (
    checkHeader(template, parametersOf(components, 'header')) ??
    checkBody(template, parametersOf(components, 'body'), maxBody) ??
    checkButtons(
      componentOf(template, 'BUTTONS')?.buttons ?? [],
      components.filter((component) => component.type === 'button'),
    )
  )
}

function checkStatus({ name, language, status }: GraphTemplate): SimulatedResponse | undefined {
  if (status === 'APPROVED') return undefined
  if (status === 'PAUSED') return failWith(132015)
  return status === 'DISABLED' ? failWith(132016) : templateMissing(name, language)
}

export function templateMissing(name: string, language: string): SimulatedResponse {
  return failWith(132001, `template name (${name}) does not exist in ${language}`)
}

function parametersOf(components: SectionComponents, type: 'header' | 'body'): Parameter[] {
  return components.flatMap((component) => (component.type === type ? component.parameters : []))
}

/** Reference, sections 1.1 and 1.6. */
const maxHeaderLength = 60

function checkHeader(template: GraphTemplate, parameters: Parameter[]): SimulatedResponse | undefined {
  const header = componentOf(template, 'HEADER')
  if (header?.format === undefined || header.format === 'TEXT') {
    const error = checkText('header', header, template.parameter_format, parameters)
    return (
      error ?? (filledLength(header, parameters) > maxHeaderLength ? tooLong('header', maxHeaderLength) : undefined)
    )
  }
  const [parameter] = parameters
  const kind = header.format.toLowerCase()
  if (parameter?.type !== kind || (kind !== 'location' && parameter[kind] === undefined))
    return fail({
      status: 400,
      code: 132012,
      title: 'Parameter format does not match format in the created template',
      details: `header: Format mismatch, expected ${header.format}, received ${parameter?.type.toUpperCase() ?? 'UNKNOWN'}`,
    })
  return checkHeaderValue(parameter)
}

function checkHeaderValue({ location, product, type }: Parameter): SimulatedResponse | undefined {
  if (type === 'location') {
    if (location?.latitude === undefined || location.longitude === undefined)
      return requiredMissing('Parameter of type location is missing latitude or longitude')
    const inRange = Math.abs(Number(location.latitude)) <= 90 && Math.abs(Number(location.longitude)) <= 180
    return inRange ? undefined : invalidValue('header: the location is not on earth')
  }
  if (type !== 'product') return undefined
  return product?.catalog_id && product.product_retailer_id
    ? undefined
    : requiredMissing('Parameter of type product is missing catalog_id or product_retailer_id')
}

/** Limits of the filled-in text (reference, section 3.2; sections 1.5 and 1.6 of the second one). */
const maxBodyLength = { alone: 32_768, withOthers: 1024, offer: 600, singleProduct: 160, card: 160 }

function maxBodyLengthOf(template: GraphTemplate): number {
  if (componentOf(template, 'LIMITED_TIME_OFFER')) return maxBodyLength.offer
  const buttons = componentOf(template, 'BUTTONS')?.buttons ?? []
  if (buttons.some(({ type }) => type === 'SPM')) return maxBodyLength.singleProduct
  return template.components.length === 1 ? maxBodyLength.alone : maxBodyLength.withOthers
}

function checkBody(template: GraphTemplate, parameters: Parameter[], limit: number): SimulatedResponse | undefined {
  const body = componentOf(template, 'BODY')
  const error = checkText('body', body, template.parameter_format, parameters)
  if (error) return error
  return filledLength(body, parameters) <= limit ? undefined : tooLong('body', limit)
}

function filledLength(component: StoredComponent | undefined, parameters: Parameter[]): number {
  const values = parameters.reduce((sum, { text }) => sum + [...String(text)].length, 0)
  return lengthWithoutPlaceholders(component?.text ?? '') + values
}

function tooLong(where: string, limit: number): SimulatedResponse {
  return fail({
    status: 400,
    code: 132005,
    title: 'Translated text too long',
    details: `${where}: longer than ${limit}`,
  })
}

function checkText(
  where: 'header' | 'body',
  component: StoredComponent | undefined,
  format: GraphTemplate['parameter_format'],
  parameters: Parameter[],
): SimulatedResponse | undefined {
  const expected = placeholdersOf(component?.text ?? '')
  const missing = expected.find((name) => !parameters.some(({ parameter_name }) => parameter_name === name))
  if (format === 'NAMED' && missing !== undefined) return parameterProblem(`${where}: Parameter ${missing} is missing`)
  if (parameters.length !== expected.length) return countMismatch(where, parameters.length, expected.length)
  return parameters.map(checkValue).find((error) => error !== undefined)
}

/** Reference, section 1.4. */
const maxCodeLength = 15

/** An authentication template requires its code twice, in the body and in the button. */
function checkCode({ category }: GraphTemplate, components: SectionComponents): SimulatedResponse | undefined {
  if (category !== 'AUTHENTICATION') return undefined
  const values = components.flatMap(({ parameters }) => parameters).map(({ text }) => String(text))
  if (new Set(values).size > 1) return invalidValue('The code in the body and the code in the button differ')
  return values.some((value) => [...value].length > maxCodeLength)
    ? invalidValue(`The code is longer than ${maxCodeLength} characters`)
    : undefined
}

function checkOffer(template: GraphTemplate, components: SendComponents): SimulatedResponse | undefined {
  const offer = componentOf(template, 'LIMITED_TIME_OFFER')?.['limited_time_offer'] as
    | { has_expiration?: boolean }
    | undefined
  const sent = components.find(({ type }) => type === 'limited_time_offer')
  if (offer?.has_expiration === true && !sent)
    return requiredMissing('limited_time_offer: Parameter expiration_time_ms is missing')
  return sent && offer?.has_expiration !== true
    ? parameterProblem('limited_time_offer: the template has no offer that expires')
    : undefined
}

const maxCards = 10

/** A send has as many cards as the template; with product cards, two to ten (reference, section 1.5). */
function checkCards(template: GraphTemplate, components: SendComponents): SimulatedResponse | undefined {
  const cards = componentOf(template, 'CAROUSEL')?.cards ?? []
  const sent = components.flatMap((component) => (component.type === 'carousel' ? component.cards : []))
  const hasProductCards = cards.some((card) => card.components.some(({ format }) => format === 'PRODUCT'))
  const isWithin = hasProductCards ? sent.length >= 2 && sent.length <= maxCards : sent.length === cards.length
  if (!isWithin) return countMismatch('carousel', sent.length, cards.length)
  if (new Set(sent.map((card) => card.card_index)).size < sent.length)
    return parameterProblem('carousel: there are two cards of the same index')
  for (const { card_index: index, components: ofCard } of sent) {
    const card = cards[index] ?? (hasProductCards ? cards[0] : undefined)
    if (!card) return parameterProblem(`carousel: there is no card ${index}`)
    const error = checkSection({ ...template, components: card.components }, ofCard, maxBodyLength.card)
    if (error) return error
  }
  return undefined
}

function componentOf({ components }: GraphTemplate, type: string): StoredComponent | undefined {
  return components.find((component) => component.type === type)
}

interface TemplateButton {
  type: string
  url?: string
}

/** Returns the error for buttons that do not match those of the template (reference, section 1.3). */
function checkButtons(buttons: readonly TemplateButton[], given: readonly SentButton[]): SimulatedResponse | undefined {
  const mismatch = given.find(({ sub_type, index }) => subTypeOf(buttons[index]) !== sub_type)
  if (mismatch) {
    const { index } = mismatch
    return parameterProblem(`buttons: Button at index ${index} must be of type ${spell(buttons[index])}`)
  }
  for (const [index, button] of buttons.entries()) {
    const sent = given.find((one) => one.index === index)
    const error = checkButton(button, index, sent?.parameters ?? [], sent !== undefined)
    if (error) return error
  }
  return undefined
}

/** The button of a one-time code is sent as a URL button (reference, section 1.4). */
function subTypeOf(button: TemplateButton | undefined): string | undefined {
  return button?.type === 'OTP' ? 'url' : button?.type.toLowerCase()
}

function checkButton(
  button: TemplateButton,
  index: number,
  parameters: Parameter[],
  isSent: boolean,
): SimulatedResponse | undefined {
  const [parameter] = parameters
  switch (button.type) {
    case 'URL':
    case 'OTP':
      return checkUrl(button, index, parameter)
    case 'QUICK_REPLY':
      return isSent && parameter && !(parameter.type === 'payload' && parameter.payload)
        ? requiredMissing(`buttons: Button at index ${index} of type QuickReply requires a payload`)
        : undefined
    case 'COPY_CODE':
      return checkCoupon(index, parameter)
    case 'FLOW':
      return checkFlow(index, parameter, isSent)
    case 'MPM':
      return checkProducts(index, parameter)
    default:
      return undefined
  }
}

/** A flow button needs its component in every send, with or without a parameter. */
function checkFlow(index: number, parameter: Parameter | undefined, isSent: boolean): SimulatedResponse | undefined {
  if (!isSent) return parameterProblem(`buttons: Button at index ${index} of type Flow requires a component`)
  return parameter && parameter.type !== 'action'
    ? parameterProblem(`buttons: Button at index ${index} of type Flow takes an action`)
    : undefined
}

/** Reference, section 1.6. */
const maxUrlLength = 2000

function checkUrl(
  { url = '{{1}}' }: TemplateButton,
  index: number,
  parameter: Parameter | undefined,
): SimulatedResponse | undefined {
  if (!url.includes('{{'))
    return parameter && parameterProblem(`buttons: Button at index ${index} of type Url takes no parameter`)
  if (!parameter || parameter.type !== 'text' || checkValue(parameter))
    return requiredMissing(`buttons: Button at index ${index} of type Url requires a parameter`)
  return lengthWithoutPlaceholders(url) + String(parameter.text).length > maxUrlLength
    ? invalidValue(`buttons: the address of the button at index ${index} is longer than ${maxUrlLength}`)
    : undefined
}

const maxCouponLength = 20

function checkCoupon(index: number, parameter: Parameter | undefined): SimulatedResponse | undefined {
  const code = parameter?.type === 'coupon_code' ? (parameter.coupon_code ?? '') : ''
  if (code === '')
    return requiredMissing(
      `buttons: Button at index ${index} of type copy_code requires a non-empty parameter coupon_code`,
    )
  return /^[A-Za-z0-9]+$/.test(code) && code.length <= maxCouponLength
    ? undefined
    : invalidValue(`buttons: the coupon code of the button at index ${index} is not valid`)
}

const maxSections = 10
const maxProducts = 30
const maxTitleLength = 24

function checkProducts(index: number, parameter: Parameter | undefined): SimulatedResponse | undefined {
  const { thumbnail_product_retailer_id: thumbnail, sections = [] } = parameter?.action ?? {}
  if (!thumbnail || sections.length === 0)
    return requiredMissing(`buttons: Button at index ${index} of type Mpm requires a thumbnail and sections`)
  const products = sections.flatMap(({ product_items }) => product_items)
  const isWithin =
    sections.length <= maxSections &&
    products.length <= maxProducts &&
    sections.every(({ title, product_items }) => title.length <= maxTitleLength && product_items.length > 0)
  return isWithin ? undefined : invalidValue(`buttons: the sections of the button at index ${index} are not valid`)
}

/** Spells `QUICK_REPLY` as `QuickReply`, as in Meta's messages. */
function spell(button: TemplateButton | undefined): string {
  const type = button?.type === 'OTP' ? 'URL' : (button?.type ?? 'NONE')
  return type.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase())
}
