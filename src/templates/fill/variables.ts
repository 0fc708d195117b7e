import type { Placeholder } from '../../../contracts/api/template.ts'
import type { TextParameter } from '../../whatsapp/whatsapp.ts'
import type { Problem } from './problem.ts'
import { fill, findText, listPlaceholders, type TemplateText } from '../placeholders.ts'

type VariableProblem = Pick<Problem, 'key' | 'problem'>

/** Limits for a body with other components, and for a body alone (reference, section 3.2). */
const maxBodyCharacters = { withOtherComponents: 1024, alone: 32_768 }

/**
 * Returns the problems of `variables` for this template; empty if they fit.
 */
export function findVariableProblems(
  template: TemplateText,
  variables: Readonly<Record<string, string>>,
  maxCharacters?: number,
): readonly VariableProblem[] {
  if (haveValidValues(listPlaceholders(template), variables)) return describeLength(template, variables, maxCharacters)
  const needed = listPlaceholders(template).map((placeholder) => placeholder.key)
  const missing = needed.filter((key) => !Object.hasOwn(variables, key))
  const unknown = Object.keys(variables).filter((key) => !needed.includes(key))
  return [
    ...missing.map((key) => ({ key, problem: `is missing; it fills {{${key}}}` })),
    ...(unknown.length === 0 ? [] : [{ problem: describeUnknown(unknown, needed) }]),
    ...needed
      .filter((key) => Object.hasOwn(variables, key))
      .flatMap((key) => {
        const problem = findValueProblem(variables[key] ?? '')
        return problem === undefined ? [] : [{ key, problem }]
      }),
  ]
}

/** Whether each placeholder has a valid value, and no other value is given. Most sends pass. */
function haveValidValues(placeholders: readonly Placeholder[], variables: Readonly<Record<string, string>>): boolean {
  for (const { key } of placeholders)
    if (!Object.hasOwn(variables, key) || suspicious.test(variables[key] ?? '')) return false
  return Object.keys(variables).length === placeholders.length
}

/** Matches every value that `findValueProblem` rejects, and no other. */
const suspicious = /^\s*$|[\n\r\u2028\u2029\t\0]| {5}/

function describeUnknown(unknown: string[], needed: string[]): string {
  const needs = needed.length === 0 ? 'takes no variables' : `takes ${quote(needed)}`
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  return `the template ${needs}; remove ${quote(unknown.slice(0, 5))}${more}`
}

function quote(keys: string[]): string {
  return keys.map((key) => JSON.stringify(key.slice(0, 64))).join(', ')
}

/** Returns why WhatsApp would reject a text parameter (reference, section 3.2); undefined if it is valid. */
export function findValueProblem(value: string): string | undefined {
  if (value.trim() === '') return 'must not be empty'
  if (/[\n\r\u2028\u2029]/.test(value)) return 'must not contain a line break'
  if (value.includes('\t')) return 'must not contain a tab'
  if (/ {5,}/.test(value)) return 'must not contain more than four spaces in a row'
  if (value.includes('\0')) return 'must not contain a NUL character'
  return undefined
}

function describeLength(
  template: TemplateText,
  variables: Readonly<Record<string, string>>,
  maxCharacters?: number,
): readonly VariableProblem[] {
  const { components } = template
  const limit =
    maxCharacters ?? (components.length > 1 ? maxBodyCharacters.withOtherComponents : maxBodyCharacters.alone)
  const body = findText(components, 'BODY') ?? ''
  if (maxFilledLength(body, listPlaceholders(template), variables) <= limit) return none
  const length = countCharacters(fill(body, variables), limit)
  if (length <= limit) return none
  return [{ problem: `make the body ${length} characters long; WhatsApp allows at most ${limit}` }]
}

const none: readonly VariableProblem[] = []

/** The shortest placeholder, `{{1}}`, has five characters. Most messages are far below the limit and need not be filled in. */
function maxFilledLength(
  body: string,
  placeholders: readonly Placeholder[],
  variables: Readonly<Record<string, string>>,
): number {
  let longest = 0
  for (const { key } of placeholders) longest = Math.max(longest, variables[key]?.length ?? 0)
  return body.length + Math.floor(body.length / 5) * longest
}

/** A character has one or two UTF-16 units, so characters are only counted if the units exceed the limit. */
export function countCharacters(text: string, limit: number): number {
  return text.length <= limit ? text.length : [...text].length
}

/** Returns the values in the order of the placeholders, with names if the template has named ones. */
export function listParameters(template: TemplateText, variables: Readonly<Record<string, string>>): TextParameter[] {
  const named = template.parameterFormat === 'NAMED'
  return listPlaceholders(template).map(({ key }) => {
    const text = variables[key] ?? ''
    return named ? { name: key, text } : { text }
  })
}
