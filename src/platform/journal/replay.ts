import { dayMilliseconds } from '../../../contracts/time.ts'
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { lockFile } from '../db/embedded/data-folder.ts'
import type { Logger } from '../log.ts'
import {
  journalFile,
  type JournalHeader,
  type JournalKind,
  type JournalLocation,
  journalLockFile,
  parseHeader,
} from './file.ts'

export interface ReplayTimes {
  /** Interval between scans for journals of dead processes. */
  scanEveryMs: number
  /** Interval between attempts to finish a journal. */
  retryEveryMs: number
}

const defaultTimes: ReplayTimes = { scanEveryMs: 5_000, retryEveryMs: 1_000 }

export interface ReplaySteps<Contents> {
  kind: JournalKind
  /** Reads a journal of this database. Returns undefined if it is damaged and proves nothing. */
  read: (text: string) => Contents | undefined
  /** Applies the contents to the database. Returns whether the journal is not needed any more. */
  apply: (contents: Contents, adoptedForMs: number) => Promise<boolean>
}

export interface Replay {
  /** The first scan and what it found. Does not reject. */
  first: Promise<void>
  stop(): Promise<void>
}

/** The journal of a dead process, locked by this process until it is finished. */
interface AdoptedJournal<Contents> {
  lock: DatabaseSync
  contents: Contents
  adoptedAt: number
}

/** How long a journal from before a reboot or from another machine is kept. It cannot be replayed. */
const foreignKeptMilliseconds = 7 * dayMilliseconds

/**
 * Replays the journals that dead processes of this machine left. Scans immediately, and then at intervals, because
 * siblings can die later.
 */
export function startReplay<Contents>(
  log: Logger,
  location: JournalLocation & { ownName?: string | undefined },
  steps: ReplaySteps<Contents>,
  times: Partial<ReplayTimes> = {},
): Replay {
  const { scanEveryMs, retryEveryMs } = { ...defaultTimes, ...times }
  const adopted = new Map<string, AdoptedJournal<Contents>>()
  const unusable = new Set<string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let pass = Promise.resolve()

  function start(): void {
    pass = runPass()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'could not replay the journal of a dead process; trying again'),
      )
      .then(() => {
        if (!stopped) timer = setTimeout(start, adopted.size > 0 ? retryEveryMs : scanEveryMs).unref()
      })
  }

  async function runPass(): Promise<void> {
    adoptAll(location, steps, { adopted, unusable })
    for (const [name, { lock, contents, adoptedAt }] of adopted) {
      if (!(await steps.apply(contents, performance.now() - adoptedAt))) continue
      removeJournal(location.folder, name, steps.kind)
      lock.close()
      adopted.delete(name)
    }
  }

  start()
  return {
    first: pass,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await pass
      for (const { lock } of adopted.values()) lock.close()
    },
  }
}

function adoptAll<Contents>(
  { folder, database, bootId, ownName }: JournalLocation & { ownName?: string | undefined },
  { kind, read }: ReplaySteps<Contents>,
  { adopted, unusable }: { adopted: Map<string, AdoptedJournal<Contents>>; unusable: Set<string> },
): void {
  for (const entry of readdirSync(folder)) {
    const [, name, ending] = /^([\w-]+)\.(\w+)$/.exec(entry) ?? []
    if (name === undefined || ending !== kind || name === ownName || adopted.has(name)) continue
    // What a dead process left does not change: a journal of megabytes is not read at every scan.
    if (unusable.has(name) && !isOld(folder, name, kind)) continue
    const lock = lockFile(journalLockFile(folder, name))
    if (!lock) continue
    const file = journalFile(folder, name, kind)
    const header = readHeader(file)
    const isOurs = header?.database === database && header.bootId === bootId
    const text = isOurs ? readText(file) : undefined
    const contents = text === undefined ? undefined : read(text)
    if (contents !== undefined) {
      adopted.set(name, { lock, contents, adoptedAt: performance.now() })
      continue
    }
    if (isOld(folder, name, kind)) removeJournal(folder, name, kind)
    // One that cannot be read now is read at the next scan.
    else if (isOurs ? text !== undefined : header !== undefined) unusable.add(name)
    lock.close()
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}

/** The first line of a journal is shorter. */
const maxHeaderBytes = 4_096

/** Returns undefined if there is no complete header, or no such file any more. */
function readHeader(file: string): JournalHeader | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const start = Buffer.alloc(maxHeaderBytes)
    const length = readSync(descriptor, start)
    return parseHeader(start.toString('latin1', 0, length).split('\n', 1)[0] ?? '')
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function isOld(folder: string, name: string, kind: JournalKind): boolean {
  const { mtimeMs } = statSync(journalFile(folder, name, kind), { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
  return Date.now() - mtimeMs > foreignKeptMilliseconds
}

/** The lock is removed last, so that a journal never exists without it. */
function removeJournal(folder: string, name: string, kind: JournalKind): void {
  rmSync(journalFile(folder, name, kind), { force: true })
  rmSync(`${journalFile(folder, name, kind)}.new`, { force: true })
  rmSync(journalLockFile(folder, name), { force: true })
}
