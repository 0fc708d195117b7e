import { componentLimits, type MessageCard } from '../../../contracts/api/components.ts'
import type { OutgoingCard } from '../../whatsapp/whatsapp.ts'
import { fitButtons } from './button-values.ts'
import { fitHeader } from './header-values.ts'
import type { CardPart } from './parts.ts'
import type { ReportProblem } from './problem.ts'
import { findVariableProblems, listParameters } from './variables.ts'

/** Returns the cards in WhatsApp's format, which requires all of them, in order (reference, section 1.5). */
export function fitCards(
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
    return part && problem === undefined ? fitCard(part, card, reportHere) : []
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

function fitCard(
  part: CardPart,
  { header, variables = {}, buttons }: MessageCard,
  report: ReportProblem,
): OutgoingCard {
  for (const problem of findVariableProblems(part.text, variables, part.maxBodyCharacters))
    report({ path: ['variables'], ...problem })
  const filledHeader = fitHeader(part.header, header, report)
  const filledButtons = fitButtons(part.buttons, buttons, report)
  return {
    parameters: listParameters(part.text, variables),
    ...(filledHeader && { header: filledHeader }),
    ...(filledButtons.length > 0 && { buttons: filledButtons }),
  }
}
