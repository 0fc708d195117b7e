import type { Deps } from '../../../deps.ts'
import { OutboxLoop, retryDelay } from '../../../platform/outbox-loop.ts'
import type { AttemptResult } from '../../sender/webhook-sender.ts'
import type { AlertText } from '../text.ts'
import { findChatRow, openChat, recordResult } from './chat.ts'
import { formatPost } from './formats.ts'
import { type ClaimedPost, claimPosts, deletePost, openPost, postponePost } from './outbox.ts'

type PosterDeps = Pick<Deps, 'db' | 'secrets' | 'webhooks' | 'notifications' | 'log' | 'now'>

/** `rejected`: the chat rejected it permanently. `expired`: it was not posted in time. `failed`: it is retried. */
export type PostOutcome = 'posted' | 'failed' | 'rejected' | 'expired'

const concurrency = 4
/** Longer than the longest attempt, whose timeout is at most 120 seconds. */
const leaseSeconds = 130
/** Longer requests of a chat are shortened, because a post is dropped after a day. */
const maxRetryAfterSeconds = 3600

/** Posts the waiting alerts of all accounts in the background. */
export function createPoster(deps: PosterDeps, onOutcome: (outcome: PostOutcome) => void = () => {}) {
  return new OutboxLoop<ClaimedPost>(deps, {
    topic: 'chat',
    name: 'alerts to be posted',
    claim: () => claimPosts(deps.db, { limit: concurrency, leaseSeconds }),
    attempt: async (post) => {
      const outcome = await attempt(deps, post)
      if (outcome) onOutcome(outcome)
    },
  })
}

/** Logs neither the URL nor the content. Returns undefined if the account no longer has a chat. */
async function attempt(deps: PosterDeps, post: ClaimedPost): Promise<PostOutcome | undefined> {
  const { db, log, now } = deps
  const { id, accountId, attempts, expired } = post
  const opened = await open(deps, post)
  if (expired || !opened) {
    if (expired) log.warn({ id, accountId, attempts }, 'dropped an alert that could not be posted to the chat in time')
    await deletePost(db, post)
    return expired ? 'expired' : undefined
  }
  const { row, chat, text } = opened
  const result = await deps.webhooks.post({ url: chat.url, body: formatPost(chat.format, text), timestamp: now() })
  await recordResult(deps, row, result)
  if (result.outcome === 'delivered') {
    await deletePost(db, post)
    return 'posted'
  }
  const { error, statusCode, retryAfterSeconds = 0 } = result
  if (isPermanent(result)) {
    log.warn({ id, accountId, statusCode }, 'dropped an alert that the chat rejected permanently')
    await deletePost(db, post)
    return 'rejected'
  }
  if (attempts === 1) log.warn({ id, accountId, statusCode, reason: error }, 'could not post an alert; retrying')
  await postponePost(db, post, Math.max(retryDelay(attempts), Math.min(retryAfterSeconds, maxRetryAfterSeconds)))
  return 'failed'
}

/**
 * Slack's responses 400, 403, 404 and 410 are permanent
 * (https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks).
 */
function isPermanent({ statusCode }: AttemptResult): boolean {
  return statusCode !== undefined && statusCode >= 300 && statusCode < 500 && ![408, 425, 429].includes(statusCode)
}

async function open(deps: PosterDeps, post: ClaimedPost) {
  const row = await findChatRow(deps.db, post.accountId)
  if (!row) return undefined
  try {
    const chat = openChat(deps, row)
    const text: AlertText = openPost(deps.secrets, post)
    return chat && { row, chat, text }
  } catch (error) {
    const { id, accountId } = post
    deps.log.error({ err: error, id, accountId }, 'dropped a post for the chat that could not be decrypted')
    return undefined
  }
}
