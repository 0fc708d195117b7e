import type { z } from 'zod'
import { ServiceError } from '../../contracts/errors.ts'
import type { recoverDeliveries as contract } from '../../contracts/settings/webhook.ts'
import type { Deps } from '../deps.ts'
import { timeOfId } from '../ids.ts'
import { rangeSince, recoverPart } from './recover-deliveries.ts'
import type { EventRange } from './recovery-store.ts'

/** One part of a recovery; `next` names the part after it. */
export async function recoverStepwise(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  { accountId, endpointId, since, next }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const range = next === undefined ? await rangeSince(deps, accountId, new Date(since)) : decodeRange(next)
  const { recovered, rest } = await recoverPart(deps, { accountId, endpointId }, range)
  return {
    recovered,
    reachedAt: timeOfId(rest?.fromId ?? range.untilId).toISOString(),
    ...(rest && { next: encodeRange(rest) }),
  }
}

function encodeRange({ fromId, untilId }: EventRange): string {
  return `${fromId}.${untilId}`
}

function decodeRange(text: string): EventRange {
  const [, fromId, untilId] = /^(evt_[0-9a-z]{26})\.(evt_[0-9a-z]{26})$/.exec(text) ?? []
  if (fromId === undefined || untilId === undefined)
    throw new ServiceError('VALIDATION_ERROR', 'next: must be the next of the part before.')
  return { fromId, untilId }
}
