import type { Kysely } from 'kysely'
import { type Chat, type ChatFormat, chatFormats, type ChatTest } from '../../../../contracts/dashboard/alert.ts'
import { invalidField, ServiceError } from '../../../../contracts/errors.ts'
import { accountNotFound } from '../../../accounts/account.ts'
import type { StoredSecret } from '../../../accounts/rekey.ts'
import { lockAccount } from '../../../accounts/whatsapp/store.ts'
import type { Deps } from '../../../deps.ts'
import type { AlertSettingsTable, Database } from '../../../platform/db/schema.ts'
import type { AttemptResult } from '../../sender/webhook-sender.ts'
import { refusedUrl } from '../../endpoints/address.ts'
import { defaultRuleColumns } from '../../../accounts/alert-rules.ts'
import { formatPost, guessFormat, isRetiredConnector } from './formats.ts'
import { deletePostsOf } from './outbox.ts'

/** The chat of an account, with the URL that only the chat and we may know. */
interface OpenedChat {
  url: string
  format: ChatFormat
}

const purposePrefix = 'alert_settings.chat_url:'

function urlPurpose(accountId: string): string {
  return purposePrefix + accountId
}

/** Posts alerts to a chat from now on. The URL is encrypted, because whoever knows it can post. */
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
  if ((await deps.webhooks.check(url)) === 'refused') throw invalidField('url', refusedUrl)
  const chosen = format ?? guessFormat(host)
  if (chosen === undefined)
    throw invalidField('format', `is needed for the host ${host}: choose ${chatFormats.join(' or ')}.`)
  const values = {
    chat_url_encrypted: deps.secrets.encrypt(url, urlPurpose(accountId)),
    chat_format: chosen,
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
  return { format: chosen, host }
}

/** Also drops what waits to be posted. */
export async function removeChat(db: Kysely<Database>, accountId: string): Promise<{ removed: boolean }> {
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

type ChatColumns = Pick<
  AlertSettingsTable,
  'account_id' | 'chat_url_encrypted' | 'chat_format' | 'chat_problem' | 'chat_problem_at'
>

/** The chat of an account as its members see it; undefined if it has none. */
export function showChat({ secrets }: Pick<Deps, 'secrets'>, row: ChatColumns): Chat | undefined {
  const chat = openChat({ secrets }, row)
  if (!chat) return undefined
  return {
    format: chat.format,
    host: new URL(chat.url).hostname,
    ...(row.chat_problem !== null && { problem: row.chat_problem }),
    ...(row.chat_problem_at && { problemAt: row.chat_problem_at.toISOString() }),
  }
}

/** Throws if no key decrypts the URL. */
export function openChat(
  { secrets }: Pick<Deps, 'secrets'>,
  { account_id: accountId, chat_url_encrypted: url, chat_format: format }: ChatColumns,
): OpenedChat | undefined {
  const known = chatFormats.find((one) => one === format)
  if (url === null || known === undefined) return undefined
  return { url: secrets.decrypt(url, urlPurpose(accountId)), format: known }
}

export function findChatRow(db: Kysely<Database>, accountId: string): Promise<ChatColumns | undefined> {
  return db
    .selectFrom('alert_settings')
    .select(['account_id', 'chat_url_encrypted', 'chat_format', 'chat_problem', 'chat_problem_at'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

/** Posts a test message now, beside the queue. */
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
    ...(result.error !== undefined && { error: result.error }),
  }
}

/** Stores why a post failed, or that none fails any more, unless the chat was replaced meanwhile. */
export async function recordResult(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  row: ChatColumns,
  { outcome, error = 'failed' }: Pick<AttemptResult, 'outcome' | 'error'>,
): Promise<void> {
  const isPosted = outcome === 'delivered'
  if (isPosted && row.chat_problem === null) return
  await db
    .updateTable('alert_settings')
    .set({ chat_problem: isPosted ? null : error, chat_problem_at: isPosted ? null : now() })
    .where('account_id', '=', row.account_id)
    .where('chat_url_encrypted', '=', row.chat_url_encrypted)
    .execute()
}

/** Lists the URLs of all accounts, so that they can be encrypted with another key. */
export async function listChatSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await db.selectFrom('alert_settings').select(['account_id', 'chat_url_encrypted']).execute()
  return rows.flatMap(({ account_id: accountId, chat_url_encrypted: from }) => {
    if (from === null) return []
    const replace: StoredSecret['replace'] = async (to, ciphertext) => {
      const { numUpdatedRows } = await to
        .updateTable('alert_settings')
        .set({ chat_url_encrypted: ciphertext })
        .where('account_id', '=', accountId)
        .where('chat_url_encrypted', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    }
    return [{ userId: accountId, purpose: urlPurpose(accountId), ciphertext: from, replace }]
  })
}
