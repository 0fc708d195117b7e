import type { Kysely } from 'kysely'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Database } from '../../platform/db/schema.ts'
import { findSuppression } from './store.ts'

/** Categories that are always or by default stopped. A template whose category is not known counts as MARKETING. */
export const defaultStoppedCategory = 'MARKETING'

/** Rejects a message to a suppressed recipient. `stoppedCategory` is the category of the template. */
export async function assertNotSuppressed(
  db: Kysely<Database>,
  { accountId, stoppedCategory }: { accountId: string; stoppedCategory: string },
  { to }: Pick<SendMessageRequest, 'to'>,
): Promise<void> {
  const found = await findSuppression(db, accountId, to)
  if (found)
    throw new ServiceError(
      'RECIPIENT_SUPPRESSED',
      `to: this recipient is on the suppression list since ${found.since.toISOString()} (${found.reason}), so ${stoppedCategory} templates are not sent to it. Nothing was sent.`,
      { field: 'to' },
    )
}
