import { randomUUID } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { createPrivateFolder, lockFile } from '../db/embedded/data-folder.ts'
import { type JournalHeader, type JournalKind, type JournalLocation, journalFile, journalLockFile } from './location.ts'

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
