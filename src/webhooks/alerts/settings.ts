import type { AlertSettings } from '../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../deps.ts'
import { findChatRow, showChat } from './chat/chat.ts'

/** How an account receives alerts. */
export async function getAlertSettings(
  deps: Pick<Deps, 'db' | 'secrets' | 'mail'>,
  accountId: string,
): Promise<AlertSettings> {
  const row = await findChatRow(deps.db, accountId)
  const chat = row && showChat(deps, row)
  return { ...(chat && { chat }), emails: deps.mail !== undefined }
}
