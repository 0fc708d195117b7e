import { z } from 'zod'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { fail, failWith } from './errors.ts'
import type { Answer } from './http.ts'
import type { GraphTemplate } from './templates.ts'

const Media = z.union([z.looseObject({ id: z.string() }), z.looseObject({ link: z.string() })])

const Parameter = z.looseObject({
  type: z.string(),
  text: z.unknown().optional(),
  parameter_name: z.string().optional(),
  image: Media.optional(),
  video: Media.optional(),
  document: Media.optional(),
})
type Parameter = z.infer<typeof Parameter>

const Button = z.object({
  type: z.literal('button'),
  sub_type: z.string().transform((name) => name.toLowerCase()),
  index: z.coerce.number().int().min(0).max(9),
  parameters: z.array(Parameter).default([]),
})

/** `components` of a send request. Their types are lower case here, but upper case in listings. */
export const SendComponents = z.array(
  z.union([z.object({ type: z.enum(['header', 'body']), parameters: z.array(Parameter).default([]) }), Button]),
)
type SendComponents = z.infer<typeof SendComponents>

/** Returns the error for a send that does not match the template; undefined if it matches. */
export function checkTemplate(template: GraphTemplate, components: SendComponents): Answer | undefined {
  return (
    checkStatus(template) ??
    checkHeader(template, parametersOf(components, 'header')) ??
    checkBody(template, parametersOf(components, 'body')) ??
    checkButtons(template, components)
  )
}

function checkStatus({ name, language, status }: GraphTemplate): Answer | undefined {
  if (status === 'APPROVED') return undefined
  if (status === 'PAUSED') return failWith(132015)
  return status === 'DISABLED' ? failWith(132016) : templateMissing(name, language)
}

export function templateMissing(name: string, language: string): Answer {
  return failWith(132001, `template name (${name}) does not exist in ${language}`)
}

function parametersOf(components: SendComponents, type: 'header' | 'body'): Parameter[] {
  return components.flatMap((component) => (component.type === type ? component.parameters : []))
}

function checkHeader(template: GraphTemplate, parameters: Parameter[]): Answer | undefined {
  const header = componentOf(template, 'HEADER')
  if (header?.format === undefined || header.format === 'TEXT') {
    return checkText('header', header, template.parameter_format, parameters)
  }
  const [parameter] = parameters
  const kind = header.format.toLowerCase()
  if (parameter?.type === kind && (kind === 'location' || parameter[kind] !== undefined)) return undefined
  return fail({
    status: 400,
    code: 132012,
    title: 'Parameter format does not match format in the created template',
    details: `header: Format mismatch, expected ${header.format}, received ${parameter?.type.toUpperCase() ?? 'UNKNOWN'}`,
  })
}

/** Reference, section 3.2: limits of the filled-in text; the shorter one applies if there are other components. */
const maxBodyLength = { alone: 32_768, withOthers: 1024 }

function checkBody(template: GraphTemplate, parameters: Parameter[]): Answer | undefined {
  const body = componentOf(template, 'BODY')
  const wrong = checkText('body', body, template.parameter_format, parameters)
  if (wrong) return wrong
  const limit = template.components.length === 1 ? maxBodyLength.alone : maxBodyLength.withOthers
  const filled = lengthWithoutPlaceholders(body) + parameters.reduce((sum, { text }) => sum + String(text).length, 0)
  if (filled <= limit) return undefined
  return fail({ status: 400, code: 132005, title: 'Translated text too long', details: `body: longer than ${limit}` })
}

function checkText(
  where: 'header' | 'body',
  component: StoredComponent | undefined,
  format: GraphTemplate['parameter_format'],
  parameters: Parameter[],
): Answer | undefined {
  const expected = placeholdersOf(component?.text ?? '')
  const missing = expected.find((name) => !parameters.some(({ parameter_name }) => parameter_name === name))
  if (format === 'NAMED' && missing !== undefined) return parameterProblem(`${where}: Parameter ${missing} is missing`)
  if (parameters.length !== expected.length) return countMismatch(where, parameters.length, expected.length)
  return parameters.map(({ type, text }) => checkValue(type, text)).find((answer) => answer !== undefined)
}

/** Returns WhatsApp's error for a value: reference, section 3.2. */
function checkValue(type: string, text: unknown): Answer | undefined {
  // Currency and date parameters are objects. Waybill sends none, so only their presence is checked.
  if (type !== 'text') return undefined
  if (typeof text !== 'string' || text.trim() === '') {
    return requiredMissing('Parameter of type text is missing text value')
  }
  return /[\n\r\t]| {5,}/.test(text)
    ? parameterProblem('Param text cannot have new-line/tab characters or more than 4 consecutive spaces')
    : undefined
}

function checkButtons(template: GraphTemplate, components: SendComponents): Answer | undefined {
  const buttons = componentOf(template, 'BUTTONS')?.buttons ?? []
  const given = components.filter((component) => component.type === 'button')
  const misfit = given.find(({ sub_type, index }) => buttons[index]?.type.toLowerCase() !== sub_type)
  if (misfit) {
    return parameterProblem(`buttons: Button at index ${misfit.index} must be of type ${spell(buttons[misfit.index])}`)
  }
  const unfilled = buttons.findIndex(
    ({ type, url }, index) =>
      type === 'URL' && (url ?? '').includes('{{') && !given.some((one) => one.index === index && hasText(one)),
  )
  return unfilled < 0
    ? undefined
    : requiredMissing(`buttons: Button at index ${unfilled} of type Url requires a parameter`)
}

function hasText({ parameters }: { parameters: Parameter[] }): boolean {
  return parameters.some(({ type, text }) => checkValue(type, text) === undefined)
}

/** Spells `QUICK_REPLY` as `QuickReply`, as in Meta's messages. */
function spell(button: { type: string } | undefined): string {
  return (button?.type ?? 'NONE').replace(
    /([A-Z])([A-Z]*)_?/g,
    (_, first: string, rest: string) => first + rest.toLowerCase(),
  )
}

function componentOf({ components }: GraphTemplate, type: string): StoredComponent | undefined {
  return components.find((component) => component.type === type)
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g

/** Returns each placeholder once, in order of first use. */
function placeholdersOf(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map(([, name = '']) => name))]
}

function lengthWithoutPlaceholders(component: StoredComponent | undefined): number {
  return (component?.text ?? '').replaceAll(placeholder, '').length
}

function countMismatch(where: string, given: number, expected: number): Answer {
  return fail({
    status: 400,
    code: 132000,
    title: 'Number of parameters does not match the expected number of params',
    details: `${where}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  })
}

function parameterProblem(details: string): Answer {
  return fail({ status: 400, code: 132018, title: "There's an issue with the parameters in your template", details })
}

export function requiredMissing(details: string): Answer {
  return fail({ status: 400, code: 131008, title: 'Required parameter is missing', details })
}
