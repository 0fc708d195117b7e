import type { StoredValues } from '../../../../../contracts/dashboard/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { exampleValues, type TemplateValues } from '../../templates/template-values.ts'

/** The values of a send of the template in the shape of a request, with each text replaced by `write`. */
export function valuesWith(template: OwnTemplate, write: (name: string) => string): TemplateValues {
  return replaceTexts(exampleValues(template), '', write) as TemplateValues
}

function replaceTexts(value: unknown, name: string, write: (name: string) => string): unknown {
  // The index of a button is part of the template.
  if (name === 'index') return value
  if (Array.isArray(value)) return value.map((inner) => replaceTexts(inner, name, write))
  if (typeof value !== 'object' || value === null) return write(name)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaceTexts(inner, key, write)]))
}

export function variablesWith({ placeholders }: OwnTemplate, write: (name: string) => string): Record<string, string> {
  return Object.fromEntries(placeholders.map(({ key }) => [key, write(key)]))
}

interface Repeat {
  /** Has the stored values as its examples, so that the form has a field for each of them. */
  template: OwnTemplate
  variables: Record<string, string>
  /** Initial values of the form fields. */
  values: TemplateValues
}

/** Initial values of the form to send a message again: the stored values that the template still has. */
export function repeatValues(template: OwnTemplate, stored: StoredValues = {}): Repeat {
  const example = exampleValues(template)
  const blank = valuesWith(template, () => '')
  const storedVariables = new Map(Object.entries(stored.variables ?? {}))
  const merge = (values: TemplateValues) => mergeStored(values, stored, template)
  return {
    template: { ...template, ...(template.example && { example: { ...template.example, ...merge(example) } }) },
    variables: variablesWith(template, (key) => storedVariables.get(key) ?? ''),
    values: toTexts(merge(blank), '') as TemplateValues,
  }
}

/** Replaces each part as a whole if the template still has it. Buttons are matched by their index. */
function mergeStored(
  { header, buttons = [], cards, ...rest }: TemplateValues,
  stored: StoredValues,
  { components }: OwnTemplate,
): TemplateValues {
  const known = components.find(({ type }) => type === 'BUTTONS')?.buttons ?? []
  const kept = (stored.buttons ?? []).filter(({ index }) => index < known.length)
  // The example omits optional button values.
  const others = buttons.filter(({ index }) => !kept.some((button) => button.index === index))
  const merged = [...kept, ...others].toSorted((a, b) => a.index - b.index)
  const isSameKind = header && stored.header && Object.keys(header)[0] === Object.keys(stored.header)[0]
  return {
    ...rest,
    ...(header && { header: isSameKind ? stored.header : header }),
    ...(merged.length > 0 && { buttons: merged }),
    ...(cards && { cards: cards.length === stored.cards?.length ? stored.cards : cards }),
    ...(rest.limitedTimeOffer && { limitedTimeOffer: stored.limitedTimeOffer ?? rest.limitedTimeOffer }),
  }
}

/** The index of a button stays a number, because it has no field. */
function toTexts(value: unknown, name: string): unknown {
  if (typeof value === 'number' && name !== 'index') return String(value)
  if (Array.isArray(value)) return value.map((inner) => toTexts(inner, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toTexts(inner, key)]))
}

/** Messages with a one-time code cannot be sent again, because Waybill does not store codes. */
export function takesCode({ example }: OwnTemplate): boolean {
  return example?.code !== undefined
}
