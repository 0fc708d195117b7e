import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { createPrivateFolder, lockFile } from '../../platform/db/embedded/data-folder.ts'
import type { Logger } from '../../platform/log.ts'
import type { JournalEntry, SendJournal } from './journal.ts'

/** Where the processes of a machine keep their journals for one database. */
export interface JournalLocation {
  folder: string
  /** Identifies the database; contains no secret. */
  database: string
  /** Changes on reboot. Unflushed writes are then lost, so an older journal proves nothing. */
  bootId: string
}

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

export function journalFile(folder: string, name: string): string {
  return path.join(folder, `${name}.journal`)
}

export function journalLockFile(folder: string, name: string): string {
  return path.join(folder, `${name}.lock`)
}

const defaultMaxBytes = 4 * 1024 * 1024

/**
 * Opens a journal for this process, locked while the process lives. It is never flushed to disk, so it survives a crash
 * of the process but not of the machine.
 */
export function openSendJournal(
  location: JournalLocation,
  log: Logger,
  maxBytes: number = defaultMaxBytes,
): SendJournal & { name: string } {
  createPrivateFolder(location.folder)
  const name = randomUUID()
  // Locked first, because a journal without a lock looks like that of a dead process.
  const lock = lockFile(journalLockFile(location.folder, name))
  if (!lock) throw new Error('a new journal is already locked')
  const header: JournalHeader = {
    version: 1,
    database: location.database,
    bootId: location.bootId,
    host: hostname(),
    pid: process.pid,
  }
  const journal = new FileJournal(journalFile(location.folder, name), `${JSON.stringify(header)}\n`, log, maxBytes)
  return {
    name,
    recording: (messages) => journal.recording(messages),
    writing: (messageId) => journal.writing(messageId),
    settled: (messageId) => journal.settled(messageId),
    close: () => {
      if (journal.close()) rmSync(journalLockFile(location.folder, name), { force: true })
      lock.close()
    },
  }
}

class FileJournal {
  /** Messages that are recorded, or about to be, and not written to WhatsApp. The file exists only for these. */
  readonly #unwritten = new Map<string, string>()
  readonly #file: string
  readonly #header: string
  readonly #log: Logger
  readonly #maxBytes: number
  #descriptor: number | undefined
  #bytes = 0
  #limit = 0

  constructor(file: string, header: string, log: Logger, maxBytes: number) {
    this.#file = file
    this.#header = header
    this.#log = log
    this.#maxBytes = maxBytes
    this.#rewrite()
  }

  recording(messages: readonly JournalEntry[]): void {
    if (this.#descriptor === undefined) return
    let lines = ''
    for (const { accountId, id } of messages) {
      this.#unwritten.set(id, accountId)
      lines += recordingLine(accountId, id)
    }
    this.#append(lines)
  }

  writing(messageId: string): void {
    // It is already marked, or was never in the file.
    if (!this.#unwritten.has(messageId)) return
    if (this.#descriptor === undefined) throw new Error('the send journal could be neither written nor removed')
    this.#append(writingLine(messageId))
    this.#unwritten.delete(messageId)
  }

  settled(messageId: string): void {
    this.#unwritten.delete(messageId)
  }

  /** Returns whether the file was removed, because it listed no unwritten message. */
  close(): boolean {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    if (this.#unwritten.size > 0) return false
    rmSync(this.#file, { force: true })
    return true
  }

  #append(lines: string): void {
    try {
      if (this.#bytes + lines.length > this.#limit) this.#rewrite()
      this.#write(lines)
    } catch (error) {
      this.#abandon(error)
    }
  }

  /** Rewrites the file with only the unwritten messages, so that it stays small. */
  #rewrite(): void {
    const next = `${this.#file}.new`
    const before = this.#descriptor
    this.#descriptor = openSync(next, 'w', 0o600)
    this.#bytes = 0
    if (before !== undefined) closeSync(before)
    let lines = this.#header
    for (const [id, accountId] of this.#unwritten) lines += recordingLine(accountId, id)
    this.#write(lines)
    renameSync(next, this.#file)
    this.#limit = Math.max(this.#maxBytes, 2 * this.#bytes)
  }

  #write(lines: string): void {
    if (this.#descriptor === undefined) throw new Error('the journal is closed')
    // All lines are ASCII, so their length is in bytes. A partial write leaves a torn line.
    const written = writeSync(this.#descriptor, lines, null, 'latin1')
    if (written !== lines.length) throw new Error('the journal was only partly written')
    this.#bytes += written
  }

  /**
   * A journal that lacks an entry could list a written message as unwritten, so it is removed. From now on, the outcome
   * of an interrupted send is unknown. If the file cannot be removed, none of its messages may be written.
   */
  #abandon(error: unknown): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    rmSync(this.#file, { force: true })
    rmSync(`${this.#file}.new`, { force: true })
    this.#unwritten.clear()
    this.#log.warn(
      { err: error },
      'could not write the send journal; after a crash, the outcome of interrupted sends is unknown',
    )
  }
}

function recordingLine(accountId: string, id: string): string {
  return `R ${accountId} ${id}\n`
}

function writingLine(id: string): string {
  return `W ${id}\n`
}

/** The contents of a dead process's journal. */
export interface ReadJournal {
  header: Pick<JournalHeader, 'database' | 'bootId' | 'host'>
  /** Messages that were recorded, or about to be, and certainly not written to WhatsApp. */
  unwritten: JournalEntry[]
}

/** Returns undefined if the journal is damaged and proves nothing. The last line may be torn. */
export function readJournal(text: string): ReadJournal | undefined {
  const [first = '', ...lines] = text.split('\n')
  const header = parseHeader(first)
  // The last element is empty, or a line that was torn when the process died.
  const torn = lines.pop()
  if (!header || torn === undefined) return undefined
  const unwritten = new Map<string, string>()
  for (const line of lines) {
    const [, accountId, recording, writing] = /^(?:R (acc_\w+) (msg_\w+)|W (msg_\w+))$/.exec(line) ?? []
    if (accountId !== undefined && recording !== undefined) unwritten.set(recording, accountId)
    else if (writing !== undefined) unwritten.delete(writing)
    else return undefined
  }
  for (const id of unwritten.keys()) if (mayBeWritingLine(torn, id)) unwritten.delete(id)
  return { header, unwritten: Array.from(unwritten, ([id, accountId]) => ({ accountId, id })) }
}

function parseHeader(line: string): JournalHeader | undefined {
  try {
    return JournalHeader.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

/** Returns whether a torn line may be the start of the line that marks this message as written. */
function mayBeWritingLine(torn: string, id: string): boolean {
  return torn !== '' && writingLine(id).startsWith(torn)
}
