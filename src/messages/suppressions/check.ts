import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { cacheHashKey } from './recipient-hash.ts'
import { findSuppression } from './store.ts'

/** Categories that are always or by default stopped. A template whose category is not known counts as MARKETING. */
export const defaultStoppedCategory = 'MARKETING'

/** Which suppressed recipients do not get a message. */
export interface Stops {
  /** Of the template. */
  category: string
  /** Whether no suppressed recipient gets it, or only those who get no messages at all do not. */
  all: boolean
}

/** Rejects a message to a suppressed recipient. */
export async function assertNotSuppressed(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
  { accountId, stops }: { accountId: string; stops: Stops },
  { to }: Pick<SendMessageRequest, 'to'>,
): Promise<void> {
  const found = await findSuppression(deps.db, accountId, to, await cacheHashKey(deps))
  if (found && (stops.all || found.all_messages))
    throw new ServiceError(
      'RECIPIENT_SUPPRESSED',
      `to: this recipient has been on the suppression list since ${found.since.toISOString()} (reason: ${found.reason}). ${found.all_messages ? 'No messages are sent to them' : `${stops.category} templates are not sent to suppressed recipients`}. Nothing was sent.`,
      { field: 'to' },
    )
}
