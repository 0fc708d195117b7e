import type { Deps } from '../deps.ts'
import {
  JournalFile,
  type JournalLocation,
  type Replay,
  type ReplayTimes,
  splitJournal,
  startReplay,
} from '../platform/journal.ts'
import type { Logger } from '../platform/log.ts'
import type { SendJournalEntry, SendJournal } from './send-journal.ts'
import { maxInsertMilliseconds as defaultMaxInsertMilliseconds } from './send/settle.ts'
import { failInterrupted, type ReportDeps } from './status/outcome-unknown.ts'

const sendJournalKind = 'journal'

/** Opens a send journal for this process. */
export function openSendJournal(
  location: JournalLocation,
  log: Logger,
  maxBytes?: number,
): SendJournal & { name: string } {
  /** Messages that are recorded, or about to be, and not written to WhatsApp. The file exists only for these. */
  const unwritten = new Map<string, string>()
  const file = new JournalFile(location, {
    kind: sendJournalKind,
    maxBytes,
    listNeeded: () => Array.from(unwritten, ([id, accountId]) => recordingLine(accountId, id)).join(''),
    // A journal that lacks an entry could list a written message as unwritten, so it is removed. From now on, the outcome
    // of an interrupted send is unknown. If the file cannot be removed, none of its messages may be written.
    abandoned: (error) => {
      unwritten.clear()
      log.warn(
        { err: error },
        'could not write the send journal; until this process is restarted, a crash leaves the outcome of its sends unknown',
      )
    },
  })
  return {
    name: file.name,
    recording: (messages) => {
      if (!file.isOpen) return
      let lines = ''
      for (const { accountId, id } of messages) {
        unwritten.set(id, accountId)
        lines += recordingLine(accountId, id)
      }
      file.append(lines)
    },
    writing: (messageId) => {
      // It is already marked, or was never in the file.
      if (!unwritten.has(messageId)) return
      if (!file.isOpen) throw new Error('the send journal could be neither written nor removed')
      file.append(writingLine(messageId))
      unwritten.delete(messageId)
    },
    settled: (messageId) => void unwritten.delete(messageId),
    close: () => file.close({ isNeeded: unwritten.size > 0 }),
  }
}

function recordingLine(accountId: string, id: string): string {
  return `R ${accountId} ${id}\n`
}

function writingLine(id: string): string {
  return `W ${id}\n`
}

/**
 * Returns the messages that were recorded, or about to be, and certainly not written to WhatsApp; undefined if the journal
 * is damaged and proves nothing. The last line may be torn.
 */
export function readSendJournal(text: string): SendJournalEntry[] | undefined {
  const journal = splitJournal(text)
  if (!journal) return undefined
  const { lines, torn } = journal
  const unwritten = new Map<string, string>()
  for (const line of lines) {
    const [, accountId, recording, writing] = /^(?:R (acc_\w+) (msg_\w+)|W (msg_\w+))$/.exec(line) ?? []
    if (accountId !== undefined && recording !== undefined) unwritten.set(recording, accountId)
    else if (writing !== undefined) unwritten.delete(writing)
    else return undefined
  }
  for (const id of unwritten.keys()) if (mayBeWritingLine(torn, id)) unwritten.delete(id)
  return Array.from(unwritten, ([id, accountId]) => ({ accountId, id }))
}

/** Returns whether a torn line may be the start of the line that marks this message as written. */
function mayBeWritingLine(torn: string, id: string): boolean {
  return torn !== '' && writingLine(id).startsWith(torn)
}

const batchSize = 1_000

/**
 * Settles the messages that dead processes of this machine recorded and certainly never wrote to WhatsApp: marks them
 * as failed, and releases their idempotency keys. Rows that are missing are looked up again, because an insert can
 * commit after its process died.
 */
export function startSendJournalReplay(
  deps: ReportDeps & Pick<Deps, 'log'>,
  location: JournalLocation & { ownName?: string | undefined },
  {
    maxInsertMilliseconds = defaultMaxInsertMilliseconds,
    ...times
  }: Partial<ReplayTimes> & { maxInsertMilliseconds?: number } = {},
): Replay {
  return startReplay(
    deps.log,
    location,
    {
      kind: sendJournalKind,
      read: (text) => {
        const unwritten = readSendJournal(text)
        return unwritten && new Map(unwritten.map((entry) => [entry.id, entry]))
      },
      apply: async (missing, adoptedForMs) => {
        await settleFound(deps, missing)
        return missing.size === 0 || adoptedForMs >= maxInsertMilliseconds
      },
    },
    times,
  )
}

/** Removes the messages whose rows were found. */
async function settleFound(
  deps: ReportDeps & Pick<Deps, 'log'>,
  missing: Map<string, SendJournalEntry>,
): Promise<void> {
  const entries = [...missing.values()]
  for (let from = 0; from < entries.length; from += batchSize) {
    const { found, failed } = await failInterrupted(deps, entries.slice(from, from + batchSize))
    for (const id of found) missing.delete(id)
    if (failed > 0)
      deps.log.warn(
        { messages: failed },
        'marked unsent messages of a killed process as failed and released their idempotency keys',
      )
  }
}
