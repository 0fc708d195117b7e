import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { isUserId } from '../recipients/plan.ts'
import { getCachedHashKey } from './recipient-hash.ts'
import { findSuppression } from './store.ts'

/** The category that is always suppressed. A template of unknown category counts as MARKETING. */
export const alwaysSuppressedCategory = 'MARKETING'

/** Which suppressed recipients must not get a message. */
export interface SuppressionRule {
  /** The category of the template. */
  category: string
  /** True if all suppressed recipients are excluded; false if only those who get no messages of any category. */
  all: boolean
}

/** Rejects a message to a suppressed recipient. */
export async function assertNotSuppressed(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
  { accountId, suppressionRule }: { accountId: string; suppressionRule: SuppressionRule },
  recipient: string,
): Promise<void> {
  const found = await findSuppression(deps.db, accountId, recipient, await getCachedHashKey(deps))
  const field = isUserId(recipient) ? 'recipient' : 'to'
  if (found && (suppressionRule.all || found.all_messages))
    throw new ServiceError(
      'RECIPIENT_SUPPRESSED',
      `${field}: this recipient has been on the suppression list since ${found.since.toISOString()} (reason: ${found.reason}). ${found.all_messages ? 'No messages are sent to them' : `${suppressionRule.category} templates are not sent to suppressed recipients`}. Nothing was sent.`,
      { field },
    )
}
