import type { Kysely } from 'kysely'
import type { SuppressionReason } from '../../../contracts/api/suppression.ts'
import type { Deps } from '../../deps.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { restoreErased } from './erased-store.ts'
import { toNumberKey } from './number-key.ts'
import { findHashKey } from './recipient-hash.ts'

/** A decision about one recipient, by the recipient or by a user of the account. */
export interface Choice {
  accountId: string
  number: string
  choice: 'out' | 'in'
  reason: SuppressionReason
  at: Date
  whatsAppAccountId?: string
  /** Set by a user to suppress messages of all categories, not only of those that the account suppresses. */
  allMessages?: boolean
}

interface ChoiceRow {
  accountId: string
  numberKey: string
  id: string
  number: string
  reason: SuppressionReason
  whatsAppAccountId: string | undefined
  at: Date
  /** 1 for an opt-out, 0 for an opt-in. */
  suppressed: number
  /** 1 or 0. */
  allMessages: number
}

const choiceColumns: Columns<ChoiceRow> = {
  accountId: { name: 'account_id', type: 'word' },
  numberKey: { name: 'number_key', type: 'word' },
  id: { name: 'id', type: 'word' },
  number: { name: 'to_number', type: 'word' },
  reason: { name: 'reason', type: 'word' },
  whatsAppAccountId: { name: 'whatsapp_account_id', type: 'text' },
  at: { name: 'at', type: 'timestamptz' },
  suppressed: { name: 'suppressed', type: 'integer' },
  allMessages: { name: 'all_messages', type: 'integer' },
}

/**
 * Whether the entry gets the new values: its state changes, or a user decides. A recipient does not replace a user's
 * values.
 */
const getsNewValues = `(s.suppressed <> excluded.suppressed or excluded.reason in ('manual', 'import'))`
/**
 * Whether an opt-in applies. Only users remove entries of users. START reverts STOP, but not a choice made in WhatsApp.
 */
const optInApplies = `(s.reason = excluded.reason or excluded.reason = 'preference' and s.reason in ('reply', 'rejected'))`

/**
 * A recipient who gets no messages at all stays so until they are removed, even if they opt out again.
 *
 * `xmax` is 0 for an inserted row: an opt-in of someone who had never opted out is not a change. A decision that is
 * older than the stored one has no effect, because callbacks can arrive late or repeatedly.
 */
const decide = statement<Lists<ChoiceRow>, { id: string; number_key: string; account_id: string; inserted: boolean }>(
  'decide_suppressions',
  ($) => `insert into suppressions as s
    (account_id, number_key, id, to_number, reason, whatsapp_account_id, since, changed_at, suppressed, all_messages)
  select account_id, number_key, id, to_number, reason, whatsapp_account_id, least(at, now()), least(at, now()),
    suppressed = 1, all_messages = 1
  from unnest(${arraysOf($, choiceColumns)}) as r (${namesOf(choiceColumns)})
  order by account_id, number_key
  on conflict (account_id, number_key) do update set
    suppressed = excluded.suppressed,
    all_messages = excluded.suppressed and (excluded.all_messages or s.suppressed and s.all_messages),
    changed_at = excluded.changed_at,
    id = case when s.suppressed <> excluded.suppressed then excluded.id else s.id end,
    to_number = case when s.suppressed <> excluded.suppressed then excluded.to_number else s.to_number end,
    since = case when s.suppressed <> excluded.suppressed then excluded.since else s.since end,
    reason = case when ${getsNewValues} then excluded.reason else s.reason end,
    whatsapp_account_id = case when ${getsNewValues} then excluded.whatsapp_account_id else s.whatsapp_account_id end
  where s.changed_at <= excluded.changed_at and (excluded.suppressed or not s.suppressed or ${optInApplies})
  returning s.id, s.number_key, s.account_id, (s.xmax = 0) as inserted`,
)

/** Applies decisions in order, and returns those that changed whether the recipient is suppressed. */
export async function applyChoices<Given extends Choice>(
  trx: Kysely<Database>,
  choices: readonly Given[],
  deps: Pick<Deps, 'newId' | 'secrets'>,
): Promise<Given[]> {
  if (choices.length === 0) return []
  const hashKey = await findHashKey(trx, deps.secrets)
  if (hashKey) await restoreErased(trx, hashKey, choices)
  const changed: Given[] = []
  // A statement can change a row only once, so a second decision about a number is left for the next round.
  for (let round = choices; round.length > 0;) {
    const first = new Map<string, Given>()
    const later: Given[] = []
    for (const choice of round) {
      const key = keyOf(choice)
      if (first.has(key)) later.push(choice)
      else first.set(key, choice)
    }
    const rows = Array.from(first.values(), (choice) => toRow(choice, deps))
    const byId = new Map(rows.map((row) => [row.id, first.get(`${row.accountId} ${row.numberKey}`)]))
    const stored = await decide(trx, listsOf(choiceColumns, rows))
    const ids = new Set(stored.filter(({ id, inserted }) => !inserted || !isOptIn(byId.get(id))).map(({ id }) => id))
    for (const [id, choice] of byId) if (choice && ids.has(id)) changed.push(choice)
    round = later
  }
  return changed
}

function isOptIn(choice: Choice | undefined): boolean {
  return choice?.choice === 'in'
}

function keyOf({ accountId, number }: Choice): string {
  return `${accountId} ${toNumberKey(number)}`
}

function toRow(
  { accountId, number, choice, reason, at, whatsAppAccountId, allMessages }: Choice,
  deps: Pick<Deps, 'newId'>,
) {
  return {
    accountId,
    numberKey: toNumberKey(number),
    id: deps.newId('sup'),
    number,
    reason,
    whatsAppAccountId,
    at,
    suppressed: choice === 'out' ? 1 : 0,
    allMessages: choice === 'out' && allMessages === true ? 1 : 0,
  } satisfies ChoiceRow
}
