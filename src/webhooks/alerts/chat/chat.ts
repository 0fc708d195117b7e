import type { Kysely, Selection } from 'kysely'
import { type Chat, type ChatFormat, chatFormats, type ChatTest } from '../../../../contracts/dashboard/alert.ts'
import { invalidField, ServiceError } from '../../../../contracts/errors.ts'
import { accountNotFound } from '../../../accounts/account.ts'
import type { StoredSecret } from '../../../accounts/rekey.ts'
import { lockAccount } from '../../../whatsapp-accounts/store.ts'
import type { Deps } from '../../../deps.ts'
import { replaceCiphertext } from '../../../platform/db/ciphertext.ts'
import { columnsOf } from '../../../platform/db/names.ts'
import type { Database } from '../../../platform/db/schema.ts'
import { readDeliveryFailure } from '../../../../contracts/facts/deliveries.ts'
import { errorFacts } from '../../../../contracts/facts/errors.ts'
import { inEnglish, withFacts } from '../../../../contracts/facts/fact.ts'
import { tryDecryptCached } from '../../../platform/secrets.ts'
import type { AttemptResult } from '../../sender/webhook-sender.ts'
import { urlProblem } from '../../endpoints/address.ts'
import { defaultRuleColumns } from '../../../accounts/alert-rules.ts'
import { formatPost, guessFormat, isRetiredConnector } from './formats.ts'
import { deletePostsOf } from './outbox.ts'

/** The chat of an account with its decrypted URL, which is secret. */
interface DecryptedChat {
  url: string
  format: ChatFormat
}

const purposePrefix = 'alert_settings.chat_url:'

function urlPurpose(accountId: string): string {
  return purposePrefix + accountId
}

/** Sets the chat that alerts are posted to. Its URL is encrypted, because anyone who knows it can post. */
export async function setChat(
  deps: Pick<Deps, 'db' | 'secrets' | 'webhooks'>,
  accountId: string,
  { url, format }: { url: string; format?: ChatFormat | undefined },
): Promise<Chat> {
  const host = URL.parse(url)?.hostname ?? ''
  if (isRetiredConnector(host))
    throw invalidField(
      'url',
      'is of an Office 365 connector, which Microsoft has retired. In Teams, open Workflows and create the workflow "Send webhook alerts to a channel", then use its URL.',
    )
  if ((await deps.webhooks.check(url)) === 'refused') throw invalidField('url', urlProblem)
  const chatFormat = format ?? guessFormat(host)
  if (chatFormat === undefined)
    throw invalidField('format', `is required for the host ${host}: choose ${chatFormats.join(' or ')}.`)
  const values = {
    chat_url_encrypted: deps.secrets.encrypt(url, urlPurpose(accountId)),
    chat_format: chatFormat,
    chat_problem: null,
    chat_problem_at: null,
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw accountNotFound(accountId)
    await trx
      .insertInto('alert_settings')
      .values({ ...defaultRuleColumns, account_id: accountId, ...values })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
      .execute()
  })
  return { format: chatFormat, host }
}

/** Also deletes posts that are waiting. */
export async function removeChat({ db }: Pick<Deps, 'db'>, accountId: string): Promise<{ removed: boolean }> {
  return db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('alert_settings')
      .set({ chat_url_encrypted: null, chat_format: null, chat_problem: null, chat_problem_at: null })
      .where('account_id', '=', accountId)
      .where('chat_url_encrypted', 'is not', null)
      .executeTakeFirst()
    await deletePostsOf(trx, accountId)
    return { removed: numUpdatedRows > 0n }
  })
}

const columns = columnsOf('account_id chat_url_encrypted chat_format chat_problem chat_problem_at')

type ChatRow = Selection<Database, 'alert_settings', (typeof columns)[number]>

/** Returns the chat without the secret parts of its URL; undefined if the account has none. */
export function toChat({ secrets }: Pick<Deps, 'secrets'>, row: ChatRow): Chat | undefined {
  const chat = tryOpenChat({ secrets }, row)
  if (!chat) return undefined
  const { format, url } = chat
  if (url === undefined) return { format, host: '?', ...withFacts({ problem: errorFacts.unreadableChat() }) }
  return {
    format,
    host: new URL(url).hostname,
    ...(row.chatProblem !== null && withFacts({ problem: readDeliveryFailure(row.chatProblem) })),
    ...(row.chatProblemAt && { problemAt: row.chatProblemAt.toISOString() }),
  }
}

/** Throws if no key can decrypt the URL. */
export function openChat(deps: Pick<Deps, 'secrets'>, row: ChatRow): DecryptedChat | undefined {
  const chat = tryOpenChat(deps, row)
  if (!chat) return undefined
  const { format, url } = chat
  if (url === undefined)
    throw new ServiceError('SETTING_REFUSED', errorFacts.unreadableChat(), {
      remedy: `Set another: waybill alert set-chat ${row.accountId} --url -`,
    })
  return { format, url }
}

/** Returns no URL if no key can decrypt it. */
function tryOpenChat(
  { secrets }: Pick<Deps, 'secrets'>,
  { accountId, chatUrlEncrypted, chatFormat }: ChatRow,
): { format: ChatFormat; url: string | undefined } | undefined {
  const format = chatFormats.find((one) => one === chatFormat)
  if (chatUrlEncrypted === null || format === undefined) return undefined
  return { format, url: tryDecryptCached(secrets, chatUrlEncrypted, urlPurpose(accountId)) }
}

export function findChatRow(db: Kysely<Database>, accountId: string): Promise<ChatRow | undefined> {
  return db.selectFrom('alert_settings').select(columns).where('account_id', '=', accountId).executeTakeFirst()
}

/** Posts a test message immediately, bypassing the queue. */
export async function testChat(
  deps: Pick<Deps, 'db' | 'secrets' | 'webhooks' | 'now' | 'publicUrl'>,
  accountId: string,
): Promise<ChatTest> {
  const row = await findChatRow(deps.db, accountId)
  const chat = row && openChat(deps, row)
  if (!row || !chat)
    throw new ServiceError('SETTING_REFUSED', 'This account posts to no chat.', {
      remedy: `Set one: waybill alert set-chat ${accountId} --url -`,
    })
  const body = formatPost(chat.format, {
    title: 'Test message from Waybill',
    paragraphs: ['Alerts of this account are posted here.'],
    link: { label: 'Open the alert settings', url: `${deps.publicUrl}/settings/${accountId}/alerts` },
  })
  const result = await deps.webhooks.post({ url: chat.url, body, timestamp: deps.now() })
  await recordResult(deps, row, result)
  return {
    posted: result.outcome === 'delivered',
    ...(result.statusCode !== undefined && { statusCode: result.statusCode }),
    ...(result.error !== undefined && withFacts({ error: result.error })),
  }
}

/** Stores why a post failed, or clears the problem after a success, unless the chat was replaced in the meantime. */
export async function recordResult(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  row: ChatRow,
  { outcome, error = 'failed' }: Pick<AttemptResult, 'outcome' | 'error'>,
): Promise<void> {
  const isPosted = outcome === 'delivered'
  if (isPosted && row.chatProblem === null) return
  await db
    .updateTable('alert_settings')
    .set({ chat_problem: isPosted ? null : inEnglish(error), chat_problem_at: isPosted ? null : now() })
    .where('account_id', '=', row.accountId)
    .where('chat_url_encrypted', '=', row.chatUrlEncrypted)
    .execute()
}

/** Lists the encrypted URLs of all accounts, so that they can be encrypted with a new key. */
export async function listChatSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await db
    .selectFrom('alert_settings')
    .select(['account_id as accountId', 'chat_url_encrypted as from'])
    .execute()
  return rows.flatMap(({ accountId, from }) => {
    if (from === null) return []
    const place = { table: 'alert_settings', column: 'chat_url_encrypted', key: { account_id: accountId } } as const
    const replace: StoredSecret['replace'] = (trx, to) => replaceCiphertext(trx, place, { from, to })
    return [{ recordId: accountId, purpose: urlPurpose(accountId), ciphertext: from, replace }]
  })
}
