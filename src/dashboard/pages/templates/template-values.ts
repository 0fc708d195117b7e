import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { translate } from '../../language/i18n.ts'
import type { TemplateComponent } from '../../../../contracts/api/template.ts'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import type { Failure } from '../../api/failure.ts'

/** A value of a send other than the body variables. */
export interface ValueField {
  /** Its path in a request, such as `header.document.link` or `buttons.0.url`. */
  path: string
  label: string
  example: string
}

/** The values of a send other than `variables`. */
export type TemplateValues = Pick<
  NonNullable<OwnTemplate['example']>,
  'header' | 'buttons' | 'code' | 'cards' | 'limitedTimeOffer'
>

export function exampleValues({ example }: OwnTemplate): TemplateValues {
  const { header, buttons, code, cards, limitedTimeOffer } = example ?? {}
  return {
    ...(header && { header }),
    ...(buttons && { buttons }),
    ...(code !== undefined && { code }),
    ...(cards && { cards }),
    ...(limitedTimeOffer && { limitedTimeOffer }),
  }
}

/** The form fields for these values, in the order of the template's example. */
export function listValueFields(template: OwnTemplate): ValueField[] {
  return listLeaves(exampleValues(template), []).map(({ path, value }) => ({
    path: path.join('.'),
    label: describe(path, template),
    example: value,
  }))
}

interface Leaf {
  path: string[]
  value: string
}

function listLeaves(value: unknown, path: string[]): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value: String(value) }]
  return Object.entries(value)
    .filter(([name]) => name !== 'index')
    .flatMap(([name, inner]) => listLeaves(inner, [...path, name]))
}

const words: Partial<Record<string, MessageDescriptor>> = {
  url: msg`end of the URL`,
  link: msg`link`,
  couponCode: msg`code`,
  catalogId: msg`catalogue ID`,
  productId: msg`product ID`,
  productIds: msg`product ID`,
  thumbnailProductId: msg`product ID of the picture`,
  title: msg`section title`,
}

function describe(path: string[], { components, example }: OwnTemplate): string {
  const [part, position = '', ...rest] = path
  if (part === 'code') return t`One-time code`
  if (part === 'limitedTimeOffer') return t`End of the offer`
  if (part !== 'cards') return describeOfSection(path, { components, buttons: example?.buttons })
  const index = Number(position)
  const cards = components.find(({ type }) => type === 'CAROUSEL')?.cards ?? []
  const section = { components: cards[index]?.components ?? [], buttons: example?.cards?.[index]?.buttons }
  return t`Card ${index + 1}: ${describeOfSection(rest, section)}`
}

interface Section {
  components: TemplateComponent[]
  /** The buttons of the example. */
  buttons: { index: number }[] | undefined
}

function describeOfSection([part, position = '', ...rest]: string[], section: Section): string {
  if (part === 'variables') return `{{${position}}}`
  const name = rest.findLast((step) => !/^\d+$/.test(step)) ?? position
  const known = words[name]
  const word = known ? translate(known) : name
  if (part === 'header') return rest.length === 0 ? t`Header ${word}` : t`Header ${position} ${word}`
  return t`Button “${labelOf(section, Number(position))}” ${word}`
}

/** The label of the button at this position of the example. */
function labelOf({ components, buttons: filled }: Section, position: number): string {
  const buttons = components.find(({ type }) => type === 'BUTTONS')?.buttons ?? []
  const index = filled?.[position]?.index ?? position
  return buttons[index]?.text ?? String(index)
}

/** Converts form values to request values: texts of number fields become numbers again. */
export function toRequestValues(values: TemplateValues, template: OwnTemplate): TemplateValues {
  return restoreNumbers(values, exampleValues(template)) as TemplateValues
}

function restoreNumbers(value: unknown, example: unknown): unknown {
  if (typeof example === 'number' && typeof value === 'string') return value.trim() === '' ? undefined : Number(value)
  if (Array.isArray(value))
    return value.map((inner, index) => restoreNumbers(inner, Array.isArray(example) ? example[index] : undefined))
  if (typeof value !== 'object' || value === null) return value
  const examples = (typeof example === 'object' ? example : {}) as Record<string, unknown>
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, restoreNumbers(inner, examples[name])]))
}

/** Assigns the problems of a test message to form fields. Problems without a field are returned as `rest`. */
export function placeProblems(
  { message, fields }: Failure,
  { keys, paths }: { keys: string[]; paths: string[] },
): { fields: Record<string, string>; rest: string | undefined } {
  const placed: Record<string, string> = {}
  for (const [name, problem] of Object.entries(fields))
    if (paths.includes(name)) placed[`values.${name}`] = problem
    else if (name === 'to' || keys.some((key) => name === `variables.${key}`)) placed[name] = problem
  const count = Object.keys(placed).length
  return { fields: placed, rest: count > 0 && count === Object.keys(fields).length ? undefined : message }
}
