import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { exampleValues, type TemplateValues } from '../../templates/template-values.ts'

/** The values that a send of the template takes, in the shape of a request and with a text of ours in each place. */
export function valuesWith(template: OwnTemplate, write: (name: string) => string): TemplateValues {
  return replaceTexts(exampleValues(template), '', write) as TemplateValues
}

function replaceTexts(value: unknown, name: string, write: (name: string) => string): unknown {
  // The position of a button or a section belongs to the template.
  if (name === 'index') return value
  if (Array.isArray(value)) return value.map((inner) => replaceTexts(inner, name, write))
  if (typeof value !== 'object' || value === null) return write(name)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaceTexts(inner, key, write)]))
}

export function variablesWith({ placeholders }: OwnTemplate, write: (name: string) => string): Record<string, string> {
  return Object.fromEntries(placeholders.map(({ key }) => [key, write(key)]))
}

/** Waybill keeps no one-time codes, so such a message cannot be repeated. */
export function takesCode({ example }: OwnTemplate): boolean {
  return example?.code !== undefined
}
