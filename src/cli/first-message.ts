import { sendMessage } from '../../contracts/message.ts'
import type { Deps } from '../deps.ts'
import { send } from '../message/send.ts'
import { findMessages } from '../message/store.ts'

/** So that who looks at the sandbox for the first time sees what a message goes through. */
export async function sendFirstMessage(deps: Deps, accountId: string): Promise<void> {
  const { rows } = await findMessages(deps.db, accountId, {}, 1)
  if (rows.length === 0) await send(deps, { accountId }, sendMessage.example.input)
}
