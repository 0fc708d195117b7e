import { ServiceError } from '../../contracts/errors.ts'
import type { Message } from '../../contracts/message.ts'
import type { Caller } from '../auth/authenticate.ts'
import type { Deps } from '../deps.ts'
import { findMessage } from './store.ts'
import { toMessage } from './to-message.ts'

export async function getMessage(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { messageId }: { messageId: string },
): Promise<Message> {
  const row = await findMessage(deps.db, caller.accountId, messageId)
  if (!row) throw new ServiceError('MESSAGE_NOT_FOUND', 'messageId: this account has no message with this ID.')
  return toMessage(row)
}
