import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { createPrivateFolder, lockFile } from '../db/embedded/data-folder.ts'

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
export type JournalKind = 'journal' | 'deliveries'

/** The first line of a journal. */
export const JournalHeader = z.object({
  version: z.literal(1),
  database: z.string(),
  bootId: z.string(),
  host: z.string(),
  pid: z.int(),
})
export type JournalHeader = z.infer<typeof JournalHeader>

/** Undefined if the operating system has no boot ID; Linux has one. */
export function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

export function journalFile(folder: string, name: string, kind: JournalKind): string {
  return path.join(folder, `${name}.${kind}`)
}

export function journalLockFile(folder: string, name: string): string {
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

export function parseHeader(line: string): JournalHeader | undefined {
  try {
    return JournalHeader.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}
