import { sendMessage } from '../../contracts/message.ts'
import type { Deps } from '../deps.ts'
import { send } from '../message/send.ts'
import { findMessages } from '../message/store.ts'

/** So that who looks at the sandbox for the first time sees what a message goes through. */
export async function sendFirstMessage(deps: Deps, accountId: string): Promise<void> {
  const [message] = await findMessages(deps.db, accountId, {}, 1)
  if (!message) await send(deps, { accountId }, sendMessage.example.input)
}
