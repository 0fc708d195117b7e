import type { SuppressionRow } from './store.ts'

export type Decision = Pick<
  SuppressionRow,
  'id' | 'suppressed' | 'reason' | 'whatsapp_account_id' | 'since' | 'changed_at' | 'all_messages' | 'added_by'
>

/**
 * The decision about a person of whom two were stored, under two names: the older one, with the later one applied to it
 * by the rules of `decide_suppressions` (choices-store.ts).
 */
export function mergeDecisions(one: Decision, other: Decision): Decision {
  const [older, later] = one.changed_at <= other.changed_at ? [one, other] : [other, one]
  if (!later.suppressed) return older.suppressed && !optInApplies(older, later) ? older : later
  if (!older.suppressed) return later
  return { ...later, since: older.since, all_messages: older.all_messages || later.all_messages }
}

/** Users can remove every entry. START reverts STOP, but not a choice made in WhatsApp. */
function optInApplies(optOut: Decision, optIn: Decision): boolean {
  if (optIn.reason === 'manual' || optIn.reason === optOut.reason) return true
  return optIn.reason === 'preference' && (optOut.reason === 'reply' || optOut.reason === 'rejected')
}
