import type { Locator, Page } from 'playwright-core'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import type { TestAccount, TestServer } from '../../support/server.ts'

export interface Sent {
  accountId: string
  messageId: string
  waMessageId: string
}

export async function send({ accountId, trpc }: TestAccount, externalId: string, to = '34600111222'): Promise<Sent> {
  const sent = await trpc.message.send.mutate({
    to,
    template: 'order_shipped',
    language: 'en',
    variables: { '1': 'Ada', '2': 'WB-1042' },
    externalId,
  })
  return { accountId, messageId: sent.messageId, waMessageId: sent.waMessageId }
}

/** Applies a status of a message, as a callback of WhatsApp does. */
export async function report(
  { deps }: TestServer,
  message: Sent,
  status: Exclude<MessageStatus, 'pending'>,
  error?: { code: string; message: string },
): Promise<void> {
  const { waMessageId } = message
  await applyStatuses(deps, [{ ...message, report: { waMessageId, status, at: new Date(), error } }])
}

/** The messages beside an open one on a screen too narrow for columns. */
export function listBeside(page: Page): Locator {
  return page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
}
