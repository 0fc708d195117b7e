import type { z } from 'zod'
import type { getMessage as contract } from '../../contracts/settings/message.ts'
import type { Deps } from '../deps.ts'
import { findAttempts, findDeliveriesOfMessage } from '../webhook/delivery-store.ts'
import { toDelivery } from '../webhook/list-deliveries.ts'
import { adviseOnFailure } from '../whatsapp/failure-advice.ts'
import { getMessage } from './get.ts'

const maxDeliveries = 100

/** A message, why it failed in plain words, and the webhooks that told of it. */
export async function getMessageHistory(
  { db }: Pick<Deps, 'db'>,
  { accountId, messageId }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const message = await getMessage({ db }, { accountId }, { messageId })
  const rows = await findDeliveriesOfMessage(db, accountId, messageId, maxDeliveries)
  const ids = rows.map((row) => row.id)
  const attempts = Map.groupBy(await findAttempts(db, accountId, ids), (attempt) => attempt.delivery_id)
  return {
    message,
    ...(message.error && { failure: adviseOnFailure(message.error) }),
    deliveries: rows.map((row) => ({
      ...toDelivery(row, attempts.get(row.id) ?? [], row.enabled),
      endpointId: row.endpoint_id,
      url: row.url,
    })),
  }
}
