import { type ButtonProducts, componentLimits, type MessageButton } from '../../../contracts/api/components.ts'
import type { OutgoingButton } from '../../whatsapp/whatsapp.ts'
import type { ButtonField, ButtonPart } from './parts.ts'
import type { ReportProblem } from './problem.ts'
import { fillUrl } from '../placeholders.ts'
import { findValueProblem } from './variables.ts'

const samples: Record<Exclude<ButtonField, 'code' | 'nothing'>, string> = {
  url: '"url": "…"',
  payload: '"payload": "…"',
  couponCode: '"couponCode": "…"',
  flow: '"flow": {"token": "…"}',
  products: '"products": {"thumbnailProductId": "…", "sections": [{"title": "…", "productIds": ["…"]}]}',
}

/** Returns the buttons with values in WhatsApp's format, and reports values that do not fit the template. */
export function fillButtons(
  parts: readonly ButtonPart[],
  buttons: readonly MessageButton[] | undefined,
  report: ReportProblem,
): OutgoingButton[] {
  const given = buttons ?? []
  for (const part of parts)
    if (part.isRequired && !given.some(({ index }) => index === part.index))
      report({ path: ['buttons'], part: describe(part), problem: `is missing; send ${sampleOf(part)}` })
  const filled = given.flatMap((button, position) => {
    const reportHere: ReportProblem = ({ path, ...rest }) => report({ path: ['buttons', position, ...path], ...rest })
    const isRepeated = given.findIndex(({ index }) => index === button.index) !== position
    if (isRepeated) reportHere({ path: ['index'], problem: `there is already a value for button ${button.index}` })
    return fillButton(parts, button, reportHere) ?? []
  })
  return [...filled, ...listWithoutValue(parts, given)]
}

const kindsWithoutValue: Readonly<Record<string, 'flow' | 'catalog'>> = { FLOW: 'flow', CATALOG: 'catalog' }

/**
 * WhatsApp rejects a send that leaves out the component of a flow button, even if the flow gets no value. Of a catalogue
 * button, only the parameters are optional: it then shows the first product (reference 2, section 1.3).
 */
function listWithoutValue(parts: readonly ButtonPart[], given: readonly MessageButton[]): OutgoingButton[] {
  return parts.flatMap(({ index, type }) => {
    const kind = kindsWithoutValue[type]
    return kind === undefined || given.some((button) => button.index === index) ? [] : [{ index, kind }]
  })
}

/** For example `button index 1, 'Track order'`. */
function describe({ index, label }: ButtonPart): string {
  return `button index ${index}, '${label}'`
}

function sampleOf({ index, field }: ButtonPart): string {
  return field === 'code' || field === 'nothing' ? 'nothing' : `{"index": ${index}, ${samples[field]}}`
}

function fillButton(
  parts: readonly ButtonPart[],
  button: MessageButton,
  report: ReportProblem,
): OutgoingButton | undefined {
  const part = parts[button.index]
  if (!part) {
    report({ path: ['index'], problem: describeIndexes(parts.length) })
    return undefined
  }
  const named = describe(part)
  if (part.field === 'nothing' || part.field === 'code') {
    report({ path: [], part: named, problem: `a button of type ${part.type} takes no value; remove this entry` })
    return undefined
  }
  if (button[part.field] === undefined) {
    report({ path: [], part: named, problem: `a button of type ${part.type} takes ${sampleOf(part)}` })
    return undefined
  }
  const problem = findProblem(part, button)
  if (problem !== undefined) report({ path: [part.field], part: named, problem })
  return toOutgoing(part, button)
}

function describeIndexes(count: number): string {
  if (count === 0) return 'the template has no buttons; remove this field'
  return count === 1
    ? 'the template has one button, of index 0'
    : `the template has ${count} buttons, 0 to ${count - 1}`
}

function findProblem({ type, url }: ButtonPart, button: MessageButton): string | undefined {
  if (button.url !== undefined) return findUrlProblem(url ?? '', button.url)
  if (button.couponCode !== undefined) return findCouponProblem(button.couponCode)
  if (button.products)
    return type === 'MPM' ? findSectionsProblem(button.products) : findThumbnailProblem(button.products)
  return undefined
}

function findUrlProblem(url: string, value: string): string | undefined {
  const problem = findValueProblem(value)
  if (problem !== undefined) return problem
  const { length } = fillUrl(url, value)
  return length <= componentLimits.urlCharacters
    ? undefined
    : `makes the URL ${length} characters long; WhatsApp allows at most ${componentLimits.urlCharacters}`
}

export function findCouponProblem(code: string): string | undefined {
  if (code === '') return 'must not be empty'
  if (!/^[A-Za-z0-9]+$/.test(code)) return 'must contain only letters A to Z and digits'
  return code.length <= componentLimits.couponCodeCharacters
    ? undefined
    : `must have at most ${componentLimits.couponCodeCharacters} characters`
}

function findSectionsProblem({ thumbnailProductId, sections = [] }: ButtonProducts): string | undefined {
  if (thumbnailProductId === undefined) return 'thumbnailProductId is missing'
  if (sections.length === 0) return 'sections is missing'
  const products = sections.reduce((count, { productIds }) => count + productIds.length, 0)
  return products <= componentLimits.products
    ? undefined
    : `contains ${products} products; WhatsApp allows at most ${componentLimits.products}`
}

function findThumbnailProblem({ thumbnailProductId, sections }: ButtonProducts): string | undefined {
  if (sections) return 'a catalogue button shows the whole catalogue; remove sections'
  return thumbnailProductId === undefined ? 'thumbnailProductId is missing' : undefined
}

/** Undefined if the button has no value of the template's kind, which is reported separately. */
function toOutgoing({ index, type }: ButtonPart, button: MessageButton): OutgoingButton | undefined {
  const { url, payload, couponCode, flow, products } = button
  if (url !== undefined) return { index, kind: 'url', text: url }
  if (payload !== undefined) return { index, kind: 'quickReply', payload }
  if (couponCode !== undefined) return { index, kind: 'copyCode', couponCode }
  if (flow) return { index, kind: 'flow', ...flow }
  if (products?.thumbnailProductId === undefined) return undefined
  const { thumbnailProductId, sections = [] } = products
  return type === 'MPM'
    ? { index, kind: 'products', thumbnailProductId, sections }
    : { index, kind: 'catalog', thumbnailProductId }
}
