import type {
  addSuppression as addContract,
  importSuppressions as importContract,
  listSuppressions as listContract,
  removeSuppression as removeContract,
  Suppression,
  SuppressionPage,
} from '../../../contracts/api/suppression.ts'
import type { UserSuppression } from '../../../contracts/dashboard/suppression.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { readActor } from '../../../contracts/facts/changes.ts'
import { quotaFacts } from '../../../contracts/facts/errors.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { assertCompleteNumbers } from '../recipients/check-number.ts'
import { isUserId, recipientOf } from '../recipients/plan.ts'
import { applyChoices } from './choices-store.ts'
import { toNumberKey } from './number-key.ts'
import { type NewEntries, releaseEntry, reserveEntries } from './quota-store.ts'
import { findHashKey } from './recipient-hash.ts'
import { findSuppressions, type ListedSuppression, unsuppress } from './store.ts'

export function listSuppressions(
  deps: Pick<Deps, 'db' | 'secrets'>,
  caller: Caller,
  input: InputOf<typeof listContract>,
): Promise<SuppressionPage> {
  return listAs(deps, caller, input, toSuppression)
}

/** The list with who added each recipient, for users of the account. */
export function listSuppressionsForUser(
  deps: Pick<Deps, 'db' | 'secrets'>,
  caller: Caller,
  input: InputOf<typeof listContract>,
): Promise<{ items: UserSuppression[]; nextCursor?: string }> {
  return listAs(deps, caller, input, toUserSuppression)
}

async function listAs<Item>(
  deps: Pick<Deps, 'db' | 'secrets'>,
  { accountId }: Caller,
  { to, recipient = to, reason, cursor, limit }: InputOf<typeof listContract>,
  toItem: (row: ListedSuppression) => Item,
): Promise<{ items: Item[]; nextCursor?: string }> {
  const hashKey = recipient === undefined ? undefined : await findHashKey(deps.db, deps.secrets)
  // One extra entry shows whether there is a next page.
  const rows = await findSuppressions(
    deps.db,
    accountId,
    { recipient: to ?? recipient, reason, beforeId: cursor },
    { limit: limit + 1, hashKey },
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(toItem), ...(rows.length > limit && last && { nextCursor: last.id }) }
}

export function toSuppression(row: ListedSuppression): Suppression {
  // An entry of someone whose number is not known has the user ID as its key.
  const userId = row.user_id ?? (isUserId(row.number_key) ? row.number_key : undefined)
  return {
    to: row.to_number,
    ...(userId !== undefined && { userId }),
    reason: row.reason,
    since: row.since.toISOString(),
    allMessages: row.all_messages,
    ...(row.whatsapp_account_id !== null && { accountId: row.whatsapp_account_id }),
  }
}

function toUserSuppression(row: ListedSuppression): UserSuppression {
  const addedBy = addedByOf(row)
  return { ...toSuppression(row), ...(addedBy !== undefined && withFacts({ addedBy: readActor(addedBy) })) }
}

/** The version before does not clear the column when a recipient decides. */
export function addedByOf({ reason, added_by }: ListedSuppression): string | undefined {
  return reason === 'manual' || reason === 'import' ? (added_by ?? undefined) : undefined
}

/** Who changes the list. */
interface Changer extends Caller {
  /** The name in the audit log. */
  actor(): string
}

type ChangeDeps = Pick<Deps, 'db' | 'newId' | 'now' | 'secrets' | 'quotas'>

/** Opt-outs of recipients are never refused, but they count. */
async function reserveRoom({ db, quotas }: ChangeDeps, entries: NewEntries): Promise<void> {
  if (await reserveEntries(db, entries, quotas.suppressions)) return
  throw new ServiceError('SUPPRESSION_QUOTA_EXCEEDED', quotaFacts.suppressions({ quota: quotas.suppressions }))
}

export async function addSuppression(
  deps: ChangeDeps,
  caller: Changer,
  { allMessages, ...given }: InputOf<typeof addContract>,
): Promise<OutputOf<typeof addContract>> {
  const { accountId } = caller
  const recipient = recipientOf(given)
  await assertCompleteNumbers(deps, { accountId }, [{ field: 'to', recipient }])
  await reserveRoom(deps, { accountId, recipients: [recipient] })
  const decided = { at: deps.now(), allMessages, addedBy: caller.actor() }
  const choice = { accountId, recipient, choice: 'out', reason: 'manual', ...decided } as const
  return deps.db.transaction().execute(async (trx) => {
    const added = await applyChoices(trx, [choice], deps)
    const [row] = await findSuppressions(trx, accountId, { recipient }, { limit: 1, hashKey: undefined })
    // A removal by a node whose clock is ahead can be newer than this entry.
    const entry = row
      ? toSuppression(row)
      : { to: recipient, reason: choice.reason, since: choice.at.toISOString(), allMessages }
    return { ...entry, added: added.length > 0 }
  })
}

export async function removeSuppression(
  deps: ChangeDeps,
  { accountId }: Caller,
  given: InputOf<typeof removeContract>,
): Promise<OutputOf<typeof removeContract>> {
  const recipient = recipientOf(given)
  const hashKey = await findHashKey(deps.db, deps.secrets)
  const removed = await unsuppress(deps.db, { accountId, recipient, hashKey, id: deps.newId('sup'), at: deps.now() })
  if (removed) await releaseEntry(deps.db, accountId)
  return { to: recipient, removed }
}

export async function importSuppressions(
  deps: ChangeDeps,
  caller: Changer,
  { recipients, allMessages }: InputOf<typeof importContract>,
): Promise<OutputOf<typeof importContract>> {
  const { accountId } = caller
  const given = recipients.map((recipient, index) => ({ field: `recipients[${index}]`, recipient }))
  await assertCompleteNumbers(deps, { accountId }, given)
  await reserveRoom(deps, { accountId, recipients })
  const decided = { at: deps.now(), allMessages, addedBy: caller.actor() }
  const named = new Map(recipients.map((recipient) => [toNumberKey(recipient), recipient]))
  const choices = Array.from(
    named.values(),
    (recipient) => ({ accountId, recipient, choice: 'out', reason: 'import', ...decided }) as const,
  )
  const added = await deps.db.transaction().execute((trx) => applyChoices(trx, choices, deps))
  return { added: added.length, alreadySuppressed: recipients.length - added.length }
}
