import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import type { Message } from '../../contracts/api/message.ts'
import type { MessageEvent } from '../../contracts/events.ts'
import type { ReportedStatus } from './fates.ts'

/** One start of one server process. */
export interface NodeLife {
  node: number
  life: number
}

/** What a client got for one request; `lost` is a connection that broke or a wait that was given up. */
export type Outcome =
  | { kind: 'lost'; reason: string }
  | { kind: 'answered'; status: number; code?: string; messageId?: string; waMessageId?: string }

/**
 * What clients, WhatsApp, the webhook receiver and the operator saw, each written down by itself when it
 * happened. Nothing of it comes from Waybill's database.
 */
export type Entry = { at: number } & (
  | ({ kind: 'attempt'; key: string; number: number; to: string } & NodeLife)
  | ({ kind: 'answer'; key: string; number: number; outcome: Outcome } & NodeLife)
  | { kind: 'received'; key: string; messageId: string; to: string }
  | { kind: 'accepted'; messageId: string; waMessageId: string }
  | { kind: 'refused'; messageId: string; code: number }
  /** Written when the status is reported for the first time. `index` counts the statuses of a message. */
  | { kind: 'reported'; messageId: string; index: number; status: ReportedStatus; timestamp: number }
  | { kind: 'acknowledged'; messageId: string; index: number }
  /** A callback that was answered, and neither with 200 nor with 503. */
  | { kind: 'callback'; status: number }
  | { kind: 'webhook'; eventId: string; verified: boolean; problem?: string; event: MessageEvent | undefined }
  /** What a reader that follows `event.list` by cursor got. */
  | { kind: 'followed'; eventId: string }
  /** A read that was answered, and neither with 200 nor with 503. */
  | { kind: 'read'; path: string; status: number }
  | ({ kind: 'node'; change: NodeChange; detail?: string } & NodeLife)
  /** The messages that a killed process had marked as written in its send journal. */
  | ({ kind: 'marked'; messageIds: string[] } & NodeLife)
  | { kind: 'fault'; fault: string; phase: 'begin' | 'end'; detail?: string }
  /** The end: what the API says when all is quiet. */
  | { kind: 'message'; via: 'list' | 'get'; message: Message }
  | { kind: 'event'; eventId: string; event: MessageEvent }
)
export type NodeChange = 'started' | 'ready' | 'killed' | 'paused' | 'resumed' | 'exited' | 'failed to start'

/** An entry of one kind. */
export type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>

export interface LedgerWriter {
  write(entry: WithoutTime<Entry>): void
  close(): Promise<void>
}

/** Distributes over the kinds, which `Omit` alone does not. */
type WithoutTime<Each> = Each extends unknown ? Omit<Each, 'at'> : never

/** JSON lines; each process that sees something has a file of its own in the folder. */
export function openLedger(folder: string, name: string): LedgerWriter {
  const file = createWriteStream(path.join(folder, `${name}.jsonl`))
  return {
    write: (entry) => void file.write(`${JSON.stringify({ at: Date.now(), ...entry })}\n`),
    close: async () => {
      file.end()
      await finished(file)
    },
  }
}

/** All entries of a folder, in the order in which they happened. */
export function readLedger(folder: string): Entry[] {
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      // The writer above is the only one that writes there.
      .map((line) => JSON.parse(line) as Entry)
      .sort((a, b) => a.at - b.at)
  )
}
