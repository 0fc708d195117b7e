import { dayMilliseconds } from '../../../contracts/time.ts'
import { missingKeptDays } from '../../whatsapp-accounts/health/findings.ts'
import { logFindings } from '../../whatsapp-accounts/health/log-findings.ts'
import type { WhatsAppAccountRef } from '../../whatsapp-accounts/store.ts'
import type { Deps } from '../../deps.ts'
import { timeOfId } from '../../platform/ids.ts'
import { recordMissing, type StatusOfMessage } from './missing-store.ts'

/** Older messages may have been deleted after their retention period, which is at least a day. */
const maxAgeMilliseconds = dayMilliseconds
/** The clock of another process may be ahead. */
const maxAheadMilliseconds = 3_600_000
/** Further statuses of the same second are not counted. */
const maxHeld = 1_000
const flushMilliseconds = 1_000

type WatchDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/** Receives the IDs of messages that statuses name, if some of them were not found. Never fails the callback. */
export type NoteMissing = (statuses: readonly (WhatsAppAccountRef & { messageId: string })[]) => void

/**
 * Watches statuses that name a message of ours which the database does not have. After a failover or a restore, these
 * messages are lost, and nothing else shows it. Stores them once a second, so that a flood costs one statement, and logs
 * the first of each WhatsApp account.
 */
export function watchMissingMessages(deps: WatchDeps, onMissing: (statuses: number) => void): NoteMissing {
  let held: StatusOfMessage[] = []
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    const statuses = held
    held = []
    timer = undefined
    for (const { statuses: count, isNew, ...ref } of await recordMissing(deps.db, statuses, missingKeptDays)) {
      onMissing(count)
      if (isNew) await logFindings(deps, [ref])
    }
  }

  return (statuses) => {
    const now = deps.now().getTime()
    for (const { accountId, whatsAppAccountId, messageId } of statuses) {
      if (held.length >= maxHeld) return
      const sentAt = timeOfId(messageId)
      const age = now - sentAt.getTime()
      if (age <= maxAgeMilliseconds && age >= -maxAheadMilliseconds)
        held.push({ accountId, whatsAppAccountId, messageId, sentAt })
    }
    if (held.length > 0)
      timer ??= setTimeout(() => {
        flush().catch((error: unknown) => deps.log.debug({ err: error }, 'could not store missing messages'))
      }, flushMilliseconds).unref()
  }
}
