import { z } from 'zod'
import { componentLimits, type MessageCard } from '../../../contracts/api/components.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { OutgoingCard, OutgoingTemplate } from '../../whatsapp/whatsapp.ts'
import { listPlaceholders, type TemplateText } from '../placeholders.ts'
import { fillButtons } from './button-values.ts'
import { fillHeader } from './header-values.ts'
import { type CardPart, listTemplateParts, takesOnlyVariables, type TemplateParts } from './parts.ts'
import type { Problem, ReportProblem } from './problem.ts'
import { findValueProblem, findVariableProblems, listParameters } from './variables.ts'

const valueFields = ['variables', 'header', 'buttons', 'code', 'cards', 'limitedTimeOffer'] as const

/** The values of a request that fill a template. */
export type TemplateValues = Pick<SendMessageRequest, (typeof valueFields)[number] | 'components'>

/** The values of a message in WhatsApp's format. */
export type FilledTemplate = Omit<OutgoingTemplate, 'to' | 'name' | 'language' | 'callbackData' | 'beforeWrite'>

interface FillResult {
  filled: FilledTemplate
  /** All problems, not only the first. */
  problems: Problem[]
  /** Why no send can fill the template; undefined if one can. */
  unsupported?: Fact | undefined
}

/** Checks the values of a request against the template, and converts them to WhatsApp's format. */
export function fillTemplate(template: TemplateText, given: TemplateValues): FillResult {
  const isVariablesOnly = hasOnlyVariables(given)
  const values = isVariablesOnly ? given : withoutEmptyLists(given)
  // Most sends have only variables, and need none of the work below.
  if ((isVariablesOnly || hasOnlyVariables(values)) && takesOnlyVariables(template.components)) {
    const { variables = {} } = values
    const problems = findVariableProblems(template, variables).map((problem) => ({ path: ['variables'], ...problem }))
    return { filled: { parameters: listParameters(template, variables) }, problems }
  }
  const problems: Problem[] = []
  const report: ReportProblem = (problem) => problems.push(problem)
  const parts = listTemplateParts(template)
  if (values.components) return { filled: passThroughComponents(parts, values.components, values, report), problems }
  const filled = parts.codeButton
    ? fillCode(template, parts.codeButton.index, values, report)
    : fillParts(template, parts, values, report)
  return { filled, problems, unsupported: parts.unsupported }
}

/** Some generated clients send an empty list for each optional list, so it counts as absent. */
export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function withoutEmptyLists(values: TemplateValues): TemplateValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmptyList(value)))
}

function hasOnlyVariables({ header, buttons, code, cards, limitedTimeOffer, components }: TemplateValues): boolean {
  return (header ?? buttons ?? code ?? cards ?? limitedTimeOffer ?? components) === undefined
}

function fillParts(
  template: TemplateText,
  parts: TemplateParts,
  values: TemplateValues,
  report: ReportProblem,
): FilledTemplate {
  const { variables = {} } = values
  if (values.code !== undefined)
    report({
      path: ['code'],
      problem:
        'the template has no one-time code, because its category is not AUTHENTICATION; choose one of this category, or send it with message.send and its variables and buttons',
    })
  for (const problem of findVariableProblems(template, variables, parts.maxBodyCharacters))
    report({ path: ['variables'], ...problem })
  const header = fillHeader(parts.header, values.header, report)
  const buttons = fillButtons(parts.buttons, values.buttons, report)
  const cards = fillCards(parts.cards, values.cards, report)
  const limitedTimeOffer = fillOffer(parts.offer, values.limitedTimeOffer, report)
  return {
    parameters: listParameters(template, variables),
    ...(header && { header }),
    ...(buttons.length > 0 && { buttons }),
    ...(cards && { cards }),
    ...(limitedTimeOffer && { limitedTimeOffer }),
  }
}

function fillOffer(
  offer: TemplateParts['offer'],
  given: TemplateValues['limitedTimeOffer'],
  report: ReportProblem,
): FilledTemplate['limitedTimeOffer'] {
  const path = ['limitedTimeOffer']
  if (!offer?.hasExpiration) {
    if (given) report({ path, problem: 'the template has no offer with an expiration time; remove this field' })
    return undefined
  }
  if (!given)
    report({ path, part: `offer '${offer.text}'`, problem: 'is missing; send {"expiresAt": "2026-12-24T18:00:00Z"}' })
  return given && { expiresAt: new Date(given.expiresAt) }
}

/** The caller's components are sent unchanged, so they replace all other values. */
function passThroughComponents(
  { codeButton }: TemplateParts,
  components: NonNullable<TemplateValues['components']>,
  values: TemplateValues,
  report: ReportProblem,
): FilledTemplate {
  for (const name of valueFields)
    if (isGiven(values[name]))
      report({ path: [name], problem: 'cannot be combined with components; remove one of them' })
  return {
    parameters: readBodyParameters(components),
    components,
    ...(codeButton && { secrets: listTexts(components).filter((text) => text.length >= minSecretCharacters) }),
  }
}

/** Shorter values also occur in error texts by chance, so they are not hidden there. */
const minSecretCharacters = 4

/** Returns the texts at all levels, because any of them can be the one-time code. */
function listTexts(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'text' && typeof value === 'string' ? [value] : listTexts(value),
  )
}

function isGiven(value: TemplateValues[keyof TemplateValues]): boolean {
  return value !== undefined && (typeof value === 'string' || Object.keys(value).length > 0)
}

const RawParameters = z.array(z.object({ parameter_name: z.string().optional(), text: z.string().catch('') }))

/** Returns the body parameters for the preview; one that is not a text is empty. */
function readBodyParameters(components: object[]): FilledTemplate['parameters'] {
  const body = components.find((component) => 'type' in component && component.type === 'body')
  const parsed = RawParameters.safeParse(body && 'parameters' in body ? body.parameters : [])
  return parsed.success ? parsed.data.map(({ parameter_name: name, text }) => ({ name, text })) : []
}

/** WhatsApp requires the code twice, in the body and in the button (reference, section 1.4). */
function fillCode(
  template: TemplateText,
  index: number,
  values: TemplateValues,
  report: ReportProblem,
): FilledTemplate {
  const { code = '' } = values
  for (const name of valueFields)
    if (name !== 'code' && isGiven(values[name]))
      report({ path: [name], problem: 'the template takes only a one-time code, in the field code; remove this field' })
  if (values.code === undefined)
    report({
      path: ['code'],
      problem: `is missing; the template takes a one-time code of at most ${componentLimits.codeCharacters} characters`,
    })
  else {
    const problem = findCodeProblem(code)
    if (problem !== undefined) report({ path: ['code'], problem })
  }
  return {
    parameters: listParameters(template, Object.fromEntries(listPlaceholders(template).map(({ key }) => [key, code]))),
    buttons: [{ index, kind: 'url', text: code }],
    secrets: [code],
  }
}

export function findCodeProblem(code: string): string | undefined {
  if (/\p{Extended_Pictographic}/u.test(code)) return 'must not contain an emoji'
  if (code.includes('://')) return 'must not contain an address'
  return findValueProblem(code)
}

/** Returns the cards in WhatsApp's format, which requires all of them, in order (reference, section 1.5). */
function fillCards(
  parts: readonly CardPart[] | undefined,
  cards: readonly MessageCard[] | undefined,
  report: ReportProblem,
): OutgoingCard[] | undefined {
  if (!parts) {
    if (cards) report({ path: ['cards'], problem: 'the template has no cards; remove this field' })
    return undefined
  }
  const problem = findCountProblem(parts, cards)
  if (problem !== undefined) report({ path: ['cards'], problem })
  return cards?.flatMap((card, index) => {
    // WhatsApp accepts more product cards than the template has; they all have the same parts.
    const part = parts[index] ?? parts[0]
    const reportHere: ReportProblem = ({ path, part: cardPart, ...rest }) =>
      report({
        path: ['cards', index, ...path],
        part: `card ${index}${cardPart === undefined ? '' : `, ${cardPart}`}`,
        ...rest,
      })
    return part && problem === undefined ? fillCard(part, card, reportHere) : []
  })
}

function findCountProblem(parts: readonly CardPart[], cards: readonly MessageCard[] | undefined): string | undefined {
  if (!cards) return `is missing; the template has ${parts.length} cards`
  if (parts.every(({ header }) => header?.kind === 'product'))
    return cards.length < 2 ? `must have 2 to ${componentLimits.cards} cards` : undefined
  return cards.length === parts.length
    ? undefined
    : `must have ${parts.length} cards, as many as the template; it has ${cards.length}`
}

function fillCard(
  part: CardPart,
  { header, variables = {}, buttons }: MessageCard,
  report: ReportProblem,
): OutgoingCard {
  for (const problem of findVariableProblems(part.text, variables, part.maxBodyCharacters))
    report({ path: ['variables'], ...problem })
  const filledHeader = fillHeader(part.header, header, report)
  const filledButtons = fillButtons(part.buttons, buttons, report)
  return {
    parameters: listParameters(part.text, variables),
    ...(filledHeader && { header: filledHeader }),
    ...(filledButtons.length > 0 && { buttons: filledButtons }),
  }
}
