import { type Kysely, sql } from 'kysely'
import type { StoredSecret } from '../../../accounts/rekey.ts'
import type { Deps } from '../../../deps.ts'
import { replaceCiphertext } from '../../../platform/db/ciphertext.ts'
import type { Database } from '../../../platform/db/schema.ts'
import type { SecretBox } from '../../../platform/secrets.ts'
import type { AlertText, MemberAlert } from '../text.ts'

/** Limits the posts of a chat that is unavailable, so that they do not fill the database. */
const maxWaiting = 10_000
const maxWaitingPerAccount = 100
/** An older post would be outdated; the dashboard shows the current state. */
const validSeconds = 24 * 3600

/**
 * Enqueues posts for accounts that have a chat. Returns false if some posts were dropped because too many are waiting.
 */
export async function enqueuePosts(
  { secrets, newId }: Pick<Deps, 'secrets' | 'newId'>,
  trx: Kysely<Database>,
  posts: readonly MemberAlert[],
): Promise<boolean> {
  const withChat = await filterByChat(trx, posts)
  if (withChat.length === 0) return true
  const accepted = await acceptWithinLimits(trx, withChat)
  if (accepted.length === 0) return false
  const rows = accepted.map(({ accountId, text }) => {
    const id = newId('cht')
    return {
      id,
      account_id: accountId,
      content_encrypted: secrets.encrypt(JSON.stringify(text), contentPurpose(id)),
      expires_at: sql<Date>`now() + make_interval(secs => ${validSeconds})`,
    }
  })
  await trx.insertInto('chat_posts').values(rows).execute()
  return accepted.length === withChat.length
}

async function filterByChat(db: Kysely<Database>, posts: readonly MemberAlert[]): Promise<MemberAlert[]> {
  if (posts.length === 0) return []
  const rows = await db
    .selectFrom('alert_settings')
    .select('account_id as accountId')
    .where('account_id', 'in', [...new Set(posts.map(({ accountId }) => accountId))])
    .where('chat_url_encrypted', 'is not', null)
    .execute()
  const accountIds = new Set(rows.map(({ accountId }) => accountId))
  return posts.filter(({ accountId }) => accountIds.has(accountId))
}

/** Counts the posts of all accounts. */
async function acceptWithinLimits(db: Kysely<Database>, posts: readonly MemberAlert[]): Promise<MemberAlert[]> {
  const counted = await db
    .selectFrom('chat_posts')
    .select(['account_id as accountId', ({ fn }) => fn.countAll<string>().as('count')])
    .groupBy('account_id')
    .execute()
  const waiting = new Map(counted.map(({ accountId, count }) => [accountId, Number(count)]))
  let total = waiting.values().reduce((sum, count) => sum + count, 0)
  return posts.filter(({ accountId }) => {
    const own = waiting.get(accountId) ?? 0
    if (total >= maxWaiting || own >= maxWaitingPerAccount) return false
    total += 1
    waiting.set(accountId, own + 1)
    return true
  })
}

export interface ClaimedPost {
  id: string
  accountId: string
  contentEncrypted: string
  /** Number of attempts, including the current one. */
  attempts: number
  expired: boolean
}

/**
 * Claims due posts until the lease ends, so the claims of a crashed process expire by themselves. Only the oldest post
 * of an account is claimed, so that its alerts stay in order and a slow chat uses only one slot. Reads all accounts.
 */
export async function claimPosts(
  db: Kysely<Database>,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedPost[]> {
  const { rows } = await sql<ClaimedPost>`
    update chat_posts set due_at = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    where id in (
      select id from chat_posts p where due_at <= now()
        and not exists (select from chat_posts older where older.account_id = p.account_id and older.id < p.id)
      order by due_at limit ${limit} for update skip locked
    )
    returning id, account_id as "accountId", content_encrypted as "contentEncrypted", attempts,
      expires_at <= now() as expired`.execute(db)
  return rows
}

export function openPost(secrets: SecretBox, { id, contentEncrypted }: ClaimedPost): AlertText {
  // Safe cast: only `enqueuePosts` writes this text.
  return JSON.parse(secrets.decrypt(contentEncrypted, contentPurpose(id))) as AlertText
}

export async function deletePost(db: Kysely<Database>, { accountId, id }: ClaimedPost): Promise<void> {
  await db.deleteFrom('chat_posts').where('account_id', '=', accountId).where('id', '=', id).execute()
}

export async function postponePost(db: Kysely<Database>, { accountId, id }: ClaimedPost, seconds: number) {
  await db
    .updateTable('chat_posts')
    .set({ due_at: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .execute()
}

export async function deletePostsOf(db: Kysely<Database>, accountId: string): Promise<void> {
  await db.deleteFrom('chat_posts').where('account_id', '=', accountId).execute()
}

/** Lists the encrypted contents of all accounts, so that they can be encrypted with a new key. */
export async function listPostSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await db.selectFrom('chat_posts').select(['id', 'content_encrypted as ciphertext']).execute()
  return rows.map(({ id, ciphertext }) => ({
    recordId: id,
    purpose: contentPurpose(id),
    ciphertext,
    replace: (trx, to) =>
      replaceCiphertext(
        trx,
        { table: 'chat_posts', column: 'content_encrypted', key: { id } },
        { from: ciphertext, to },
      ),
  }))
}

function contentPurpose(id: string): string {
  return `chat_posts.content:${id}`
}
