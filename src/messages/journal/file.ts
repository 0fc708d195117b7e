import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { createPrivateFolder, lockFile } from '../../platform/db/embedded/data-folder.ts'
import type { Logger } from '../../platform/log.ts'
import type { JournalEntry, SendJournal } from './journal.ts'

/** The journals of the processes of one machine on one database. */
export interface JournalPlace {
  folder: string
  /** Tells databases apart; holds no secret. */
  database: string
  /** Changes when the machine starts anew: what was not flushed is then lost, and a journal proves nothing. */
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

/** Undefined where the system does not tell its starts apart: Linux does. */
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
 * A journal of this process's own, locked for as long as the process lives. It is never flushed: it survives the
 * process, though not the machine.
 */
export function openSendJournal(
  place: JournalPlace,
  log: Logger,
  maxBytes: number = defaultMaxBytes,
): SendJournal & { name: string } {
  createPrivateFolder(place.folder)
  const name = randomUUID()
  // The lock comes first: a journal without its lock would look like one whose process is dead.
  const lock = lockFile(journalLockFile(place.folder, name))
  if (!lock) throw new Error('a new journal is already locked')
  const header: JournalHeader = {
    version: 1,
    database: place.database,
    bootId: place.bootId,
    host: hostname(),
    pid: process.pid,
  }
  const journal = new FileJournal(journalFile(place.folder, name), `${JSON.stringify(header)}\n`, log, maxBytes)
  return {
    name,
    recording: (messages) => journal.recording(messages),
    writing: (messageId) => journal.writing(messageId),
    settled: (messageId) => journal.settled(messageId),
    close: () => {
      if (journal.close()) rmSync(journalLockFile(place.folder, name), { force: true })
      lock.close()
    },
  }
}

class FileJournal {
  /** Messages that are recorded, or about to be, and not written: all that the file is kept for. */
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
    // Not there: it is marked already, or was never in the file.
    if (!this.#unwritten.has(messageId)) return
    if (this.#descriptor === undefined) throw new Error('the send journal could be neither written nor removed')
    this.#append(writingLine(messageId))
    this.#unwritten.delete(messageId)
  }

  settled(messageId: string): void {
    this.#unwritten.delete(messageId)
  }

  /** Whether the file is gone, since nothing in it matters any more. */
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

  /** Leaves out what no longer matters, so that the file stays small. */
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
    // All of it is ASCII. What the disk took only a part of is torn.
    const written = writeSync(this.#descriptor, lines, null, 'latin1')
    if (written !== lines.length) throw new Error('the disk took only a part')
    this.#bytes += written
  }

  /**
   * A journal that misses an entry would call a message unwritten that was written. So it is removed, and what is
   * interrupted from now on counts as unknown. As long as it is there, none of its messages may be written.
   */
  #abandon(error: unknown): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    rmSync(this.#file, { force: true })
    rmSync(`${this.#file}.new`, { force: true })
    this.#unwritten.clear()
    this.#log.warn({ err: error }, 'the send journal cannot be written; sends that a crash interrupts count as unknown')
  }
}

function recordingLine(accountId: string, id: string): string {
  return `R ${accountId} ${id}\n`
}

function writingLine(id: string): string {
  return `W ${id}\n`
}

/** What a journal says of a process that is dead. */
export interface ReadJournal {
  header: Pick<JournalHeader, 'database' | 'bootId' | 'host'>
  /** Recorded or about to be, and certainly not written to WhatsApp. */
  unwritten: JournalEntry[]
}

/** Undefined when the text is no intact journal: then it proves nothing. Its last line may be torn. */
export function readJournal(text: string): ReadJournal | undefined {
  const [first = '', ...lines] = text.split('\n')
  const header = parseHeader(first)
  // Behind the last line break stands nothing, or a line that the process died in.
  const torn = lines.pop()
  if (!header || torn === undefined) return undefined
  const unwritten = new Map<string, string>()
  for (const line of lines) {
    const [, accountId, recording, writing] = /^(?:R (acc_\w+) (msg_\w+)|W (msg_\w+))$/.exec(line) ?? []
    if (accountId !== undefined && recording !== undefined) unwritten.set(recording, accountId)
    else if (writing !== undefined) unwritten.delete(writing)
    else return undefined
  }
  for (const id of unwritten.keys()) if (mayBeTornOff(torn, id)) unwritten.delete(id)
  return { header, unwritten: Array.from(unwritten, ([id, accountId]) => ({ accountId, id })) }
}

function parseHeader(line: string): JournalHeader | undefined {
  try {
    return JournalHeader.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

/** Whether a torn line may have been meant to say that this message is written. */
function mayBeTornOff(torn: string, id: string): boolean {
  return torn !== '' && writingLine(id).startsWith(torn)
}
