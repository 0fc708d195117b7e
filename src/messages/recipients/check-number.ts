import { invalidField } from '../../../contracts/errors.ts'
import { recipientFacts } from '../../../contracts/facts/recipients.ts'
import { type Fact, join } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { findNumberPlan, isPossibleNumber } from '../../platform/number-lengths.ts'
import { storedKeysOf } from '../suppressions/number-key.ts'
import { isUserId } from './plan-identities.ts'
import { findIdentities } from './store.ts'

interface Context {
  accountId: string
  /** The WhatsApp account that sends; absent if nothing is sent. */
  whatsAppAccountId?: string
}

/**
 * Rejects numbers that cannot be complete (number-lengths.ts), such as those without their country code. WhatsApp would
 * send to nobody, or to someone else, and a suppression would stop nobody. A number that WhatsApp itself has reported is
 * accepted as it is, and so are user IDs. The error names the field of the first such number and does not repeat it.
 */
export async function assertCompleteNumbers(
  deps: Pick<Deps, 'db'>,
  context: Context,
  recipients: readonly { field: string; recipient: string }[],
): Promise<void> {
  const { accountId } = context
  const doubtful = recipients.filter(({ recipient }) => !isUserId(recipient) && !isPossibleNumber(recipient))
  const references = doubtful.flatMap(({ recipient }) =>
    storedKeysOf(recipient).map((identity) => ({ accountId, identity })),
  )
  const known = new Set((await findIdentities(deps.db, references)).map(({ identity }) => identity))
  const wrong = doubtful.find(({ recipient }) => !storedKeysOf(recipient).some((key) => known.has(key)))
  if (!wrong) return
  const problem = describe(wrong.recipient)
  const code = await findOwnCode(deps, context, wrong.recipient)
  throw invalidField(
    wrong.field,
    code === undefined
      ? recipientFacts.incomplete({ problem })
      : recipientFacts.incompleteHere({ problem, countryCode: code }),
  )
}

function describe(number: string): Fact {
  const plan = findNumberPlan(number)
  if (!plan) return recipientFacts.noSuchCode()
  const lengths = plan.lengths.split(',').map((range) => {
    const [first = '', last] = range.split('-')
    return last === undefined ? first : recipientFacts.range({ first, last })
  })
  return recipientFacts.wrongLength({
    digits: number.length,
    countryCode: plan.callingCode,
    lengths: join(lengths, recipientFacts.either) ?? '',
  })
}

/** The country code of one of the account's own numbers that completes the recipient's. */
async function findOwnCode(
  { db }: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: Context,
  number: string,
): Promise<string | undefined> {
  const rows = await db
    .selectFrom('whatsapp_accounts')
    .select('display_phone_number')
    .where('account_id', '=', accountId)
    .$if(whatsAppAccountId !== undefined, (query) => query.where('id', '=', whatsAppAccountId ?? ''))
    .orderBy('id')
    .execute()
  return rows
    .map((row) => findNumberPlan((row.display_phone_number ?? '').replaceAll(/\D/g, ''))?.callingCode)
    .find((code) => code !== undefined && isPossibleNumber(code + number))
}
