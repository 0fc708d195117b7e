import { invalidField } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { findNumberPlan, isPossibleNumber } from '../../platform/number-lengths.ts'
import { findIdentities } from '../recipients/store.ts'
import { storedKeysOf } from '../suppressions/number-key.ts'

interface Send {
  accountId: string
  /** The WhatsApp account that sends. */
  whatsAppAccountId: string
}

/**
 * Rejects a number that cannot be complete (number-lengths.ts), such as one without its country code. WhatsApp would send
 * it to nobody, or to someone else. A number that WhatsApp itself has reported is accepted as it is. The error does not
 * repeat the number.
 */
export async function assertKnownNumber(deps: Pick<Deps, 'db'>, send: Send, to: string): Promise<void> {
  const { accountId } = send
  const references = storedKeysOf(to).map((identity) => ({ accountId, identity }))
  if ((await findIdentities(deps.db, references)).length > 0) return
  const plan = findNumberPlan(to)
  const problem = plan
    ? `has ${to.length} digits, but numbers with the country code ${plan.callingCode} have ${describe(plan.lengths)}`
    : 'does not start with the code of any country'
  throw invalidField('to', `${problem}. No country code?${await suggest(deps, send, to)}`)
}

function describe(lengths: string): string {
  return lengths.replaceAll('-', ' to ').replaceAll(',', ' or ')
}

/** Assumes that the recipient is in the same country as the sender. */
async function suggest({ db }: Pick<Deps, 'db'>, { accountId, whatsAppAccountId }: Send, to: string): Promise<string> {
  const row = await db
    .selectFrom('whatsapp_accounts')
    .select('display_phone_number')
    .where('account_id', '=', accountId)
    .where('id', '=', whatsAppAccountId)
    .executeTakeFirst()
  const code = findNumberPlan((row?.display_phone_number ?? '').replaceAll(/\D/g, ''))?.callingCode
  if (code === undefined || !isPossibleNumber(code + to)) return ''
  return ` If the recipient is in the country of your own number, put ${code} in front of it.`
}
