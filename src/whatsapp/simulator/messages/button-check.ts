import {
  checkValue,
  invalidValue,
  lengthWithoutPlaceholders,
  type Parameter,
  parameterProblem,
  requiredMissing,
  type SentButton,
} from './send-components.ts'
import type { SimulatedResponse } from '../response.ts'

/** A button of the template. */
interface TemplateButton {
  type: string
  url?: string
}

/** Returns the error for buttons that do not match those of the template (reference, section 1.3). */
export function checkButtons(
  buttons: readonly TemplateButton[],
  given: readonly SentButton[],
): SimulatedResponse | undefined {
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
      return isSent && parameter && !parameter.payload
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
  const code = parameter?.coupon_code ?? ''
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
