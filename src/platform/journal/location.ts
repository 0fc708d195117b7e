import { readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'

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
