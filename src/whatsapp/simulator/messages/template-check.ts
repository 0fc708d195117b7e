import type { StoredComponent } from '../../../platform/db/schema.ts'
import { checkButtons } from './button-check.ts'
import { fail, failWith } from '../errors.ts'
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
} from './send-components.ts'
import type { SimulatedResponse } from '../response.ts'
import type { GraphTemplate } from '../templates/template-list.ts'

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
