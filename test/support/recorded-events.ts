import type { Deps } from '../../src/deps.ts'

interface RecordedEvent {
  type: string
  timestamp: string
  data: object
}

/** The events of an account, or of one of its messages, in the order in which they happened. */
export async function listRecordedEvents(
  { db }: Pick<Deps, 'db'>,
  { accountId }: { accountId: string },
  messageId?: string,
): Promise<RecordedEvent[]> {
  let query = db.selectFrom('events').select('payload').where('account_id', '=', accountId).orderBy('id')
  if (messageId !== undefined) query = query.where('message_id', '=', messageId)
  return (await query.execute()).map(({ payload }) => JSON.parse(payload))
}
