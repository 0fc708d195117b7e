import type { SuppressionReason } from '../../../contracts/api/suppression.ts'

/**
 * Which of two opt-outs of a person is kept: what lifts the stronger one lifts the weaker one, too, but not the other way
 * round. START reverts STOP only; a choice in WhatsApp reverts STOP and rejections as well; only users remove their entries.
 */
const strengths: Record<SuppressionReason, number> = { reply: 0, rejected: 1, preference: 2, manual: 3, import: 3 }

/** The reasons of entries that users of the account add. */
export const reasonsOfUsers = ['manual', 'import'] as const satisfies SuppressionReason[]

/** A user's decision also replaces one of the same strength. */
export function replacesReason(earlier: SuppressionReason, later: SuppressionReason): boolean {
  return strengths[later] > strengths[earlier] || strengths[later] === strengths.manual
}

/** Orders opt-outs, the strongest last. */
export function compareReasons(one: SuppressionReason, other: SuppressionReason): number {
  return strengths[one] - strengths[other]
}

/** `replacesReason` for two columns. */
export function replacesReasonInSql(earlier: string, later: string): string {
  const strength = strengthInSql(later)
  return `(${strength} > ${strengthInSql(earlier)} or ${strength} = ${strengths.manual})`
}

/** Whether the reason in a column is a user's. */
export function isOfUserInSql(column: string): string {
  return `${column} in (${reasonsOfUsers.map((reason) => `'${reason}'`).join(', ')})`
}

function strengthInSql(column: string): string {
  const cases = Object.entries(strengths).map(([reason, strength]) => `when '${reason}' then ${strength}`)
  return `case ${column} ${cases.join(' ')} end`
}
