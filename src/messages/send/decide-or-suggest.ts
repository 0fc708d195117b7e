import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { Deps } from '../../deps.ts'
import { describeUnknownTemplate } from '../../templates/suggest.ts'
import { decide, type Draft, type SendFacts } from './decide.ts'

/** Decides like `decide`. If the template is unknown, the error suggests the nearest one of the same account. */
export async function decideOrSuggest(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  facts: SendFacts,
  input: SendMessageRequest,
): Promise<Draft> {
  const { whatsAppAccount, template } = facts
  if (template !== undefined || whatsAppAccount?.inactiveReason !== undefined || !whatsAppAccount)
    return decide(facts, input)
  const { wabaId } = whatsAppAccount
  throw await describeUnknownTemplate(db, { accountId, wabaId, name: input.template, language: input.language })
}
