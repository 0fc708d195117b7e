import type { Kysely } from 'kysely'
import type { SuppressionReason } from '../../../contracts/api/suppression.ts'
import type { Deps } from '../../deps.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { isUserId, type StoredIdentity } from '../recipients/plan-identities.ts'
import { findIdentities, lockRecipients } from '../recipients/store.ts'
import { restoreErased } from './erased-store.ts'
import { findHashKey, toNumberKey } from './number-key.ts'
import { isOfUserInSql, replacesReasonInSql } from './opt-out-reasons.ts'

/** A decision about one recipient, by the recipient or by a user of the account. */
export interface Choice {
  accountId: string
  /** Number or user ID. */
  recipient: string
  choice: 'out' | 'in'
  reason: SuppressionReason
  at: Date
  whatsAppAccountId?: string
  /** Set by a user to suppress messages of all categories, not only of those that the account suppresses. */
  allMessages?: boolean
  /** Who decides for the account, as in the audit log; absent if the recipient decides. */
  addedBy?: string
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
  addedBy: string | undefined
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
  addedBy: { name: 'added_by', type: 'text' },
}

/** Whether the entry gets the new values: its state changes, or the new reason replaces that of the entry. */
const getsNewValues = `(s.suppressed <> excluded.suppressed or ${replacesReasonInSql('s.reason', 'excluded.reason')})`
/**
 * Whether an opt-in applies. Only users remove entries of users. START reverts STOP, but not a choice made in WhatsApp.
 */
const optInApplies = `(s.reason = excluded.reason or excluded.reason = 'preference' and s.reason in ('reply', 'rejected'))`

/** Whether a user adds an entry of a user again. It stays as old as it is if the recipient decides nothing (`unsuppress`). */
const isAddedAgain = `s.suppressed and excluded.suppressed and ${isOfUserInSql('s.reason')} and ${isOfUserInSql('excluded.reason')}`

/**
 * A recipient who gets no messages at all stays so until they are removed, even if they opt out again.
 *
 * `xmax` is 0 for an inserted row: an opt-in of someone who had never opted out is not a change. A decision that is
 * older than the stored one has no effect, because callbacks can arrive late or repeatedly.
 */
const decide = statement<Lists<ChoiceRow>, { id: string; inserted: boolean }>(
  'decide_suppressions',
  ($) => `insert into suppressions as s
    (account_id, number_key, id, to_number, reason, whatsapp_account_id, since, changed_at, suppressed, all_messages,
      added_by)
  select account_id, number_key, id, to_number, reason, whatsapp_account_id, least(at, now()), least(at, now()),
    suppressed = 1, all_messages = 1, added_by
  from unnest(${arraysOf($, choiceColumns)}) as r (${namesOf(choiceColumns)})
  order by account_id, number_key
  on conflict (account_id, number_key) do update set
    suppressed = excluded.suppressed,
    all_messages = excluded.suppressed and (excluded.all_messages or s.suppressed and s.all_messages),
    changed_at = case when ${isAddedAgain} then s.changed_at else excluded.changed_at end,
    id = case when s.suppressed <> excluded.suppressed then excluded.id else s.id end,
    to_number = case when s.suppressed <> excluded.suppressed then excluded.to_number else s.to_number end,
    since = case when s.suppressed <> excluded.suppressed then excluded.since else s.since end,
    reason = case when ${getsNewValues} then excluded.reason else s.reason end,
    whatsapp_account_id = case when ${getsNewValues} then excluded.whatsapp_account_id else s.whatsapp_account_id end,
    added_by = case when ${getsNewValues} then excluded.added_by else s.added_by end
  where s.changed_at <= excluded.changed_at and (excluded.suppressed or not s.suppressed or ${optInApplies})
  returning s.id, (s.xmax = 0) as inserted`,
)

/** A decision that changed whether its recipient is suppressed. */
export interface AppliedChoice<Given extends Choice> {
  choice: Given
  /** The number as the sender wrote it; the user ID if no number is known. */
  to: string
  /** The user ID that WhatsApp reported last. */
  userId: string | undefined
}

/**
 * Applies decisions in order, and returns those that changed whether the recipient is suppressed. A decision under one
 * name of a person is stored for the person, so it covers the other names.
 */
export async function applyChoices<Given extends Choice>(
  deps: Pick<Deps, 'newId' | 'secrets'>,
  trx: Kysely<Database>,
  choices: readonly Given[],
): Promise<AppliedChoice<Given>[]> {
  if (choices.length === 0) return []
  await lockRecipients(
    trx,
    choices.map(({ accountId }) => accountId),
  )
  const nameOf = indexNames(
    await findIdentities(
      trx,
      choices.map(({ accountId, recipient }) => ({ accountId, identity: toNumberKey(recipient) })),
    ),
  )
  const named = choices.map((choice) => ({ choice, ...nameOf(choice) }))
  const stored = named.map(({ choice: { accountId }, to }) => ({ accountId, recipient: to }))
  await restoreErased(trx, await findHashKey(trx, deps.secrets), [...choices, ...stored])
  const changed: AppliedChoice<Given>[] = []
  // A statement can change a row only once, so a second decision about a person is left for the next round.
  for (let round = named; round.length > 0;) {
    const first = new Map<string, Named<Given>>()
    const later: Named<Given>[] = []
    for (const each of round) {
      const key = `${each.choice.accountId} ${each.person}`
      if (first.has(key)) later.push(each)
      else first.set(key, each)
    }
    const rows = Array.from(first.values(), (each) => ({ each, row: toRow(each, deps) }))
    const decided = await decide(
      trx,
      listsOf(
        choiceColumns,
        rows.map(({ row }) => row),
      ),
    )
    const inserted = new Map(decided.map((one) => [one.id, one.inserted]))
    for (const { each, row } of rows)
      if (inserted.has(row.id) && !(inserted.get(row.id) && each.choice.choice === 'in')) changed.push(each)
    round = later
  }
  return changed
}

type Named<Given extends Choice> = AppliedChoice<Given> & { person: string }

/** Returns the person of a decision, with the number and the user ID to show. */
function indexNames(identities: readonly StoredIdentity[]) {
  const known = new Map(identities.map((row) => [`${row.accountId} ${row.identity}`, row]))
  const byPerson = Map.groupBy(identities, ({ accountId, person }) => `${accountId} ${person}`)
  return ({ accountId, recipient }: Choice): { person: string; to: string; userId: string | undefined } => {
    const key = toNumberKey(recipient)
    const person = known.get(`${accountId} ${key}`)?.person ?? key
    const names = (byPerson.get(`${accountId} ${person}`) ?? []).toSorted((a, b) => Number(b.seenAt) - Number(a.seenAt))
    const number = known.get(`${accountId} ${person}`)?.number
    return {
      person,
      to: isUserId(recipient) ? (number ?? person) : recipient,
      userId: isUserId(recipient) ? recipient : names.find(({ wabaId }) => wabaId !== null)?.identity,
    }
  }
}

function toRow(
  { choice: { accountId, choice, reason, at, whatsAppAccountId, allMessages, addedBy }, person, to }: Named<Choice>,
  deps: Pick<Deps, 'newId'>,
) {
  return {
    accountId,
    numberKey: person,
    id: deps.newId('sup'),
    number: to,
    reason,
    whatsAppAccountId,
    at,
    suppressed: choice === 'out' ? 1 : 0,
    allMessages: choice === 'out' && allMessages === true ? 1 : 0,
    addedBy,
  } satisfies ChoiceRow
}
