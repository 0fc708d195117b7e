import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { cacheHashKey } from './recipient-hash.ts'
import { findSuppression } from './store.ts'

/** Categories that are always or by default stopped. A template whose category is not known counts as MARKETING. */
export const defaultStoppedCategory = 'MARKETING'

/** Rejects a message to a suppressed recipient. `stoppedCategory` is the category of the template. */
export async function assertNotSuppressed(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
  { accountId, stoppedCategory }: { accountId: string; stoppedCategory: string },
  { to }: Pick<SendMessageRequest, 'to'>,
): Promise<void> {
  const found = await findSuppression(deps.db, accountId, to, await cacheHashKey(deps))
  if (found)
    throw new ServiceError(
      'RECIPIENT_SUPPRESSED',
      `to: this recipient has been on the suppression list since ${found.since.toISOString()} (reason: ${found.reason}). ${stoppedCategory} templates are not sent to suppressed recipients. Nothing was sent.`,
      { field: 'to' },
    )
}
