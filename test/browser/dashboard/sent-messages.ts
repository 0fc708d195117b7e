import type { Locator, Page } from 'playwright-core'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import { exampleSend } from '../../support/example-send.ts'
import type { TestAccount, TestServer } from '../../support/server.ts'

export interface Sent {
  accountId: string
  messageId: string
  waMessageId: string
}

/** Sends the documented example, `Hello Ada, your order WB-1042 is on its way.` */
export async function send(
  { accountId, trpc }: TestAccount,
  externalId = exampleSend.externalId,
  to = exampleSend.to,
): Promise<Sent> {
  const { messageId, waMessageId } = await trpc.message.send.mutate({ ...exampleSend, externalId, to })
  return { accountId, messageId, waMessageId }
}

/** Applies a status of a message, as a callback of WhatsApp does. */
export async function report(
  { deps }: TestServer,
  message: Sent,
  status: Exclude<MessageStatus, 'pending'>,
  error?: { code: string; message: string },
  at = new Date(),
): Promise<void> {
  const { waMessageId } = message
  await applyStatuses(deps, [{ ...message, report: { waMessageId, status, at, error } }])
}

/** The messages beside an open one on a screen too narrow for columns. */
export function listBeside(page: Page): Locator {
  return page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
}
