import type {
  TemplateButtonDefinition,
  TemplateDefinition,
  TemplateHeaderDefinition,
} from '../../../contracts/templates/definition.ts'

/**
 * Returns whether two definitions describe the same template, as far as WhatsApp lists it. Samples, lifetimes and the
 * apps of a one-time code cannot be read back, and the labels of its buttons have defaults in each language.
 */
export function isSameTemplate(wanted: TemplateDefinition, listed: TemplateDefinition): boolean {
  return JSON.stringify(toComparable(wanted, listed)) === JSON.stringify(toComparable(listed, listed))
}

/** Sorts the keys and removes what cannot be compared. */
function toComparable(template: TemplateDefinition, listed: TemplateDefinition): unknown {
  const { header, cards, authentication, ttlSeconds: _, category: __, ...rest } = template
  const { text = listed.authentication?.text, ...code } = authentication ?? {}
  return sortKeys({
    ...rest,
    ...(header && { header: withoutSample(header) }),
    ...(rest.buttons && { buttons: rest.buttons.map(withoutPlus) }),
    ...(cards && {
      cards: cards.map((card) => ({
        ...card,
        header: withoutSample(card.header),
        ...(card.buttons && { buttons: card.buttons.map(withoutPlus) }),
      })),
    }),
    ...(authentication && {
      authentication: {
        text,
        otpType: 'otpType' in code ? code.otpType : undefined,
        addSecurityRecommendation: authentication.addSecurityRecommendation ?? false,
        expirationMinutes: authentication.expirationMinutes,
      },
    }),
    ...(rest.limitedTimeOffer && {
      limitedTimeOffer: { ...rest.limitedTimeOffer, expires: rest.limitedTimeOffer.expires ?? false },
    }),
  })
}

/** WhatsApp lists a number with or without its plus sign. */
function withoutPlus({ phoneNumber, ...button }: TemplateButtonDefinition): object {
  return { ...button, ...(phoneNumber !== undefined && { phoneNumber: phoneNumber.replace(/^\+/, '') }) }
}

function withoutSample({ format, text, example }: TemplateHeaderDefinition): object {
  return { format, text, example }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortKeys(inner)]),
  )
}
