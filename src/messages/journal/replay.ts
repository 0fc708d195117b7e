import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Deps } from '../../deps.ts'
import { lockFile } from '../../platform/db/embedded/data-folder.ts'
import { failUnwritten } from '../send/settle-store.ts'
import { journalFile, journalLockFile, type JournalLocation, readJournal } from './file.ts'
import type { JournalEntry } from './journal.ts'

/** The journal of a dead process, locked by this process until its messages are settled. */
interface AdoptedJournal {
  lock: DatabaseSync
  /** Messages whose rows have not been found yet. */
  missing: Map<string, JournalEntry>
  adoptedAt: number
}

interface ReplayTimes {
  /** Interval between scans for journals of dead processes. */
  scanEveryMs: number
  /** Interval between lookups of missing rows: an insert can commit after its process died. */
  retryEveryMs: number
  /** No insert commits later than this: see `insertDeadlineMilliseconds` and the statement timeout. */
  maxInsertMs: number
}

const defaultTimes: ReplayTimes = { scanEveryMs: 5_000, retryEveryMs: 1_000, maxInsertMs: 30_000 }
/** How long a journal from before a reboot or from another machine is kept. It cannot be replayed. */
const foreignKeptMilliseconds = 7 * 86_400_000

/**
 * Settles the messages that dead processes of this machine recorded and certainly never wrote to WhatsApp: marks them
 * as failed, and releases their idempotency keys. Scans immediately, and then at intervals, because siblings can die
 * later.
 */
export function startJournalReplay(
  deps: Pick<Deps, 'db' | 'log'>,
  location: JournalLocation & { ownName?: string | undefined },
  times: Partial<ReplayTimes> = {},
): { stop(): Promise<void> } {
  const { scanEveryMs, retryEveryMs, maxInsertMs } = { ...defaultTimes, ...times }
  const adopted = new Map<string, AdoptedJournal>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let pass = Promise.resolve()

  function start(): void {
    pass = runPass()
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'could not replay the journal of a dead process; trying again'),
      )
      .then(() => {
        if (!stopped) timer = setTimeout(start, adopted.size > 0 ? retryEveryMs : scanEveryMs).unref()
      })
  }

  async function runPass(): Promise<void> {
    adoptAll(location, adopted)
    for (const [name, journal] of adopted) {
      await settleFound(deps, journal)
      if (journal.missing.size > 0 && performance.now() - journal.adoptedAt < maxInsertMs) continue
      removeJournal(location.folder, name)
      journal.lock.close()
      adopted.delete(name)
    }
  }

  start()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await pass
      for (const { lock } of adopted.values()) lock.close()
    },
  }
}

const batchSize = 1_000

async function settleFound({ db, log }: Pick<Deps, 'db' | 'log'>, { missing }: AdoptedJournal): Promise<void> {
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

function adoptAll(
  { folder, database, bootId, ownName }: JournalLocation & { ownName?: string | undefined },
  adopted: Map<string, AdoptedJournal>,
): void {
  for (const file of readdirSync(folder)) {
    const [, name] = /^([\w-]+)\.journal$/.exec(file) ?? []
    if (name === undefined || name === ownName || adopted.has(name)) continue
    const lock = lockFile(journalLockFile(folder, name))
    if (!lock) continue
    const journal = read(folder, name)
    if (journal?.header.database === database && journal.header.bootId === bootId) {
      const missing = new Map(journal.unwritten.map((entry) => [entry.id, entry]))
      adopted.set(name, { lock, missing, adoptedAt: performance.now() })
      continue
    }
    if (isOld(folder, name)) removeJournal(folder, name)
    lock.close()
  }
}

function read(folder: string, name: string) {
  try {
    return readJournal(readFileSync(journalFile(folder, name), 'latin1'))
  } catch {
    return undefined
  }
}

function isOld(folder: string, name: string): boolean {
  const { mtimeMs } = statSync(journalFile(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
  return Date.now() - mtimeMs > foreignKeptMilliseconds
}

/** The lock is removed last, so that a journal never exists without it. */
function removeJournal(folder: string, name: string): void {
  rmSync(journalFile(folder, name), { force: true })
  rmSync(`${journalFile(folder, name)}.new`, { force: true })
  rmSync(journalLockFile(folder, name), { force: true })
}
