import type { z } from 'zod'
import { fail } from './errors.ts'
import type { SimulatedResponse } from './exchange.ts'

/**
 * Error 100 with the Graph API's wording for an invalid value: the parameter, the allowed values and the given one, as in
 * `Param template['components'][1]['sub_type'] must be one of {FLOW, URL} - got "phone_number".`
 */
export function invalidParameter(
  { issues }: z.ZodError,
  body: unknown,
  within: readonly string[] = [],
): SimulatedResponse {
  const issue = issues[0] && firstOf(issues[0])
  return fail({ status: 400, code: 100, title: issue ? describe(issue, body, within) : 'Invalid parameter' })
}

/** If every alternative of a union failed, returns the issue of the first one. */
function firstOf(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  const nested = issue.code === 'invalid_union' ? issue.errors[0]?.[0] : undefined
  return nested ? firstOf({ ...nested, path: [...issue.path, ...nested.path] }) : issue
}

function describe(issue: z.core.$ZodIssue, body: unknown, within: readonly string[]): string {
  const path = [...within, ...issue.path]
  const value = valueAt(body, path)
  if (path.length === 0) return 'The body must be a JSON object.'
  if (value === undefined) return `The parameter ${nameOf(path)} is required.`
  return `Param ${nameOf(path)} ${ruleOf(issue)} - got ${shorten(JSON.stringify(value))}.`
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : 'is not valid'
    case 'too_small':
      return issue.origin === 'string'
        ? `must be at least ${issue.minimum} characters long`
        : `must be at least ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${issue.maximum} characters long`
        : `must be at most ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'url' ? 'is not a valid URI' : 'is not valid'
    case 'custom':
      return String(issue.params?.['rule'] ?? 'is not valid')
    default:
      return 'is not valid'
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of {${values
    .map((value) => String(value).toUpperCase())
    .toSorted()
    .join(', ')}}`
}

function withArticle(type: string): string {
  return type === 'int' ? 'an integer' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}

/** `['template', 'components', 0]` as `template['components'][0]`. */
function nameOf([first, ...rest]: readonly PropertyKey[]): string {
  return [String(first), ...rest.map((part) => (typeof part === 'number' ? `[${part}]` : `['${String(part)}']`))].join(
    '',
  )
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined),
    body,
  )
}

const maxShown = 100

function shorten(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
