import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Deps } from '../../deps.ts'
import { lockFile } from '../../platform/db/embedded/data-folder.ts'
import { failUnwritten } from '../send/settle-store.ts'
import { journalFile, journalLockFile, type JournalPlace, readJournal } from './file.ts'
import type { JournalEntry } from './journal.ts'

/** A journal whose process is dead, held by us until its messages are settled. */
interface AdoptedJournal {
  lock: DatabaseSync
  /** Messages whose rows have not been found yet. */
  missing: Map<string, JournalEntry>
  adoptedAt: number
}

interface ReplayTimes {
  /** Between looks for journals whose process has died. */
  lookEveryMs: number
  /** Between looks for rows: an insert that was under way when its process died can commit later. */
  retryEveryMs: number
  /** No insert commits later than this: see `insertDeadlineMilliseconds` and the statement timeout. */
  insertsEndMs: number
}

const defaultTimes: ReplayTimes = { lookEveryMs: 5_000, retryEveryMs: 1_000, insertsEndMs: 30_000 }
/** Of another start of the machine, or of another machine: nobody can judge it. */
const foreignKeptMilliseconds = 7 * 86_400_000

/**
 * Settles what dead processes of this machine recorded and certainly never wrote to WhatsApp: the messages fail, and
 * their idempotency keys are free. It looks for such journals at once, and from then on for those of siblings.
 */
export function startJournalReplay(
  deps: Pick<Deps, 'db' | 'log'>,
  place: JournalPlace & { ownName?: string | undefined },
  times: Partial<ReplayTimes> = {},
): { stop(): Promise<void> } {
  const { lookEveryMs, retryEveryMs, insertsEndMs } = { ...defaultTimes, ...times }
  const adopted = new Map<string, AdoptedJournal>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let pass = Promise.resolve()

  function start(): void {
    pass = runPass()
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'the journal of a dead process could not be replayed yet'),
      )
      .then(() => {
        if (!stopped) timer = setTimeout(start, adopted.size > 0 ? retryEveryMs : lookEveryMs).unref()
      })
  }

  async function runPass(): Promise<void> {
    adoptAll(place, adopted)
    for (const [name, journal] of adopted) {
      await settleFound(deps, journal)
      if (journal.missing.size > 0 && performance.now() - journal.adoptedAt < insertsEndMs) continue
      removeJournal(place.folder, name)
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

const settledAtOnce = 1_000

async function settleFound({ db, log }: Pick<Deps, 'db' | 'log'>, { missing }: AdoptedJournal): Promise<void> {
  const entries = [...missing.values()]
  for (let from = 0; from < entries.length; from += settledAtOnce) {
    const { found, failed } = await failUnwritten(db, entries.slice(from, from + settledAtOnce))
    for (const id of found) missing.delete(id)
    if (failed > 0)
      log.warn(
        { messages: failed },
        'marked unsent messages of a killed process as failed and released their idempotency keys',
      )
  }
}

function adoptAll(
  { folder, database, bootId, ownName }: JournalPlace & { ownName?: string | undefined },
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

/** The lock goes last: as long as the journal is there, so is its lock. */
function removeJournal(folder: string, name: string): void {
  rmSync(journalFile(folder, name), { force: true })
  rmSync(`${journalFile(folder, name)}.new`, { force: true })
  rmSync(journalLockFile(folder, name), { force: true })
}
