import { ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import { findWabaId } from './store.ts'

/** The WABA whose templates are meant. An inactive WhatsApp account's templates can still be read. */
export async function requireWabaId(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<string> {
  const wabaId = await findWabaId(deps.db, accountId, whatsAppAccountId)
  if (wabaId !== undefined) return wabaId
  throw new ServiceError(
    'NO_ACTIVE_ACCOUNT',
    whatsAppAccountId === undefined
      ? 'No default WhatsApp account is set up. Add one, or name one in accountId.'
      : 'accountId: no WhatsApp account of yours has this ID. Leave it out for the default account.',
  )
}
