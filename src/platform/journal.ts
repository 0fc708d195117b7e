import { randomUUID } from 'node:crypto'
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { dayMilliseconds } from '../../contracts/time.ts'
import { createPrivateFolder, lockFile } from './db/embedded/data-folder.ts'
import type { Logger } from './log.ts'

const defaultMaxBytes = 4 * 1024 * 1024

export interface JournalOptions {
  kind: JournalKind
  maxBytes?: number | undefined
  /** The lines that are still needed. A file that has become long is rewritten with them alone. */
  listNeeded: () => string
  /** The journal could not be written and was removed. Nothing is written from now on. */
  abandoned: (error: unknown) => void
}

/**
 * A journal of this process, locked while the process lives. It is never flushed to disk, so it survives a crash of the
 * process but not of the machine. All lines are ASCII.
 */
export class JournalFile {
  readonly name = randomUUID()
  readonly #folder: string
  readonly #file: string
  readonly #header: string
  readonly #lock: DatabaseSync
  readonly #options: JournalOptions
  #descriptor: number | undefined
  #bytes = 0
  #limit = 0

  constructor({ folder, database, bootId }: JournalLocation, options: JournalOptions) {
    createPrivateFolder(folder)
    this.#folder = folder
    this.#file = journalFile(folder, this.name, options.kind)
    this.#options = options
    // Locked first, because a journal without a lock looks like that of a dead process.
    const lock = lockFile(journalLockFile(folder, this.name))
    if (!lock) throw new Error('a new journal is already locked')
    this.#lock = lock
    const header: JournalHeader = { version: 1, database, bootId, host: hostname(), pid: process.pid }
    this.#header = `${JSON.stringify(header)}\n`
    this.#rewrite()
  }

  /** False after an error, and after `close`. */
  get isOpen(): boolean {
    return this.#descriptor !== undefined
  }

  append(lines: string): void {
    try {
      if (this.#bytes + lines.length > this.#limit) this.#rewrite()
      this.#write(lines)
    } catch (error) {
      this.#abandon(error)
    }
  }

  /** Removes the file, unless another process still needs it. */
  close({ isNeeded }: { isNeeded: boolean }): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    if (!isNeeded) {
      rmSync(this.#file, { force: true })
      rmSync(journalLockFile(this.#folder, this.name), { force: true })
    }
    this.#lock.close()
  }

  #rewrite(): void {
    const next = `${this.#file}.new`
    const before = this.#descriptor
    this.#descriptor = openSync(next, 'w', 0o600)
    this.#bytes = 0
    if (before !== undefined) closeSync(before)
    this.#write(this.#header + this.#options.listNeeded())
    renameSync(next, this.#file)
    this.#limit = Math.max(this.#options.maxBytes ?? defaultMaxBytes, 2 * this.#bytes)
  }

  #write(lines: string): void {
    if (this.#descriptor === undefined) throw new Error('the journal is closed')
    // A partial write leaves a torn line. ASCII, so the length is in bytes.
    const written = writeSync(this.#descriptor, lines, null, 'latin1')
    if (written !== lines.length) throw new Error('the journal was only partly written')
    this.#bytes += written
  }

  /** Throws if the file cannot be removed. */
  #abandon(error: unknown): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    rmSync(this.#file, { force: true })
    rmSync(`${this.#file}.new`, { force: true })
    this.#options.abandoned(error)
  }
}

/** Where the processes of a machine keep their journals for one database. */
export interface JournalLocation {
  folder: string
  /** Identifies the database; contains no secret. */
  database: string
  /** Changes on reboot. Unflushed writes are then lost, so an older journal proves nothing. */
  bootId: string
}

/** The ending of a journal's name: sends, or webhooks that a receiver has acknowledged. */
type JournalKind = 'journal' | 'deliveries'

/** The first line of a journal. */
const JournalHeader = z.object({
  version: z.literal(1),
  database: z.string(),
  bootId: z.string(),
  host: z.string(),
  pid: z.int(),
})
type JournalHeader = z.infer<typeof JournalHeader>

/** Undefined if the operating system has no boot ID; Linux has one. */
export function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

function journalFile(folder: string, name: string, kind: JournalKind): string {
  return path.join(folder, `${name}.${kind}`)
}

function journalLockFile(folder: string, name: string): string {
  return path.join(folder, `${name}.lock`)
}

/** The parts of a journal; `torn` is a line that was cut off when its process died, or empty. */
export interface JournalText {
  header: JournalHeader
  lines: string[]
  torn: string
}

/** Returns undefined if there is no complete header. */
export function splitJournal(text: string): JournalText | undefined {
  const [first = '', ...lines] = text.split('\n')
  const header = parseHeader(first)
  const torn = lines.pop()
  return header && torn !== undefined ? { header, lines, torn } : undefined
}

function parseHeader(line: string): JournalHeader | undefined {
  try {
    return JournalHeader.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

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
