import type { Deps } from '../../deps.ts'
import type { JournalLocation } from '../../platform/journal/location.ts'
import { type Replay, type ReplayTimes, startReplay } from '../../platform/journal/replay.ts'
import { failUnwritten } from '../send/settle-store.ts'
import { readJournal, sendJournalKind } from './file.ts'
import type { JournalEntry } from './journal.ts'

/** No insert commits later than this: see `insertDeadlineMilliseconds` and the statement timeout. */
const defaultMaxInsertMs = 30_000
const batchSize = 1_000

/**
 * Settles the messages that dead processes of this machine recorded and certainly never wrote to WhatsApp: marks them
 * as failed, and releases their idempotency keys. Rows that are missing are looked up again, because an insert can
 * commit after its process died.
 */
export function startJournalReplay(
  deps: Pick<Deps, 'db' | 'log'>,
  location: JournalLocation & { ownName?: string | undefined },
  { maxInsertMs = defaultMaxInsertMs, ...times }: Partial<ReplayTimes> & { maxInsertMs?: number } = {},
): Replay {
  return startReplay(
    deps.log,
    location,
    {
      kind: sendJournalKind,
      read: (text) => {
        const unwritten = readJournal(text)
        return unwritten && new Map(unwritten.map((entry) => [entry.id, entry]))
      },
      apply: async (missing, adoptedForMs) => {
        await settleFound(deps, missing)
        return missing.size === 0 || adoptedForMs >= maxInsertMs
      },
    },
    times,
  )
}

/** Removes the messages whose rows were found. */
async function settleFound({ db, log }: Pick<Deps, 'db' | 'log'>, missing: Map<string, JournalEntry>): Promise<void> {
  const entries = [...missing.values()]
  for (let from = 0; from < entries.length; from += batchSize) {
    const { found, failed } = await failUnwritten(db, entries.slice(from, from + batchSize))
    for (const id of found) missing.delete(id)
    if (failed > 0)
      log.warn(
        { messages: failed },
        'marked unsent messages of a killed process as failed and released their idempotency keys',
      )
  }
}
