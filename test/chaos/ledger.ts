import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import type { Message } from '../../contracts/api/message.ts'
import type { MessageEvent } from '../../contracts/events.ts'
import type { ReportedStatus } from './scenarios.ts'

/** One run of one server process. */
export interface NodeLife {
  node: number
  life: number
}

/** The response to a client's request; `lost` means a broken connection or a timeout. */
export type Outcome =
  | { kind: 'lost'; reason: string }
  | { kind: 'answered'; status: number; code?: string; messageId?: string; waMessageId?: string }

export interface WebhookAnswer {
  /** Undefined if the sender hung up first. */
  status: number | undefined
  /** From the end of the request to the end of the response. */
  milliseconds: number
}

/**
 * What clients, WhatsApp, the webhook receiver and the operator observed, recorded independently at the time. Nothing
 * comes from Waybill's database.
 */
export type Entry = { at: number } & (
  | ({ kind: 'attempt'; key: string; number: number; to: string } & NodeLife)
  | ({ kind: 'answer'; key: string; number: number; outcome: Outcome } & NodeLife)
  | { kind: 'received'; key: string; messageId: string; to: string; endpoint: string }
  | { kind: 'accepted'; messageId: string; waMessageId: string }
  | { kind: 'refused'; messageId: string; code: number }
  /** Refused as belonging to another endpoint, which the sender may use then. */
  | { kind: 'misrouted'; messageId: string }
  /** Written when a status is reported for the first time. `index` counts the statuses of a message. */
  | { kind: 'reported'; messageId: string; index: number; status: ReportedStatus; timestamp: number }
  | { kind: 'acknowledged'; messageId: string; index: number }
  /** A callback whose response was neither 200 nor 503. */
  | { kind: 'callback'; status: number }
  /** Written when the receiver has answered, or when its sender has hung up. */
  | {
      kind: 'webhook'
      eventId: string
      verified: boolean
      problem?: string
      event: MessageEvent | undefined
      answer: WebhookAnswer
      /** The process that sent it. */
      sender: NodeLife
    }
  /** A process has read the 2xx of the receiver. */
  | { kind: 'answer read'; eventId: string }
  /** An event received by the reader that pages through `event.list`. */
  | { kind: 'followed'; eventId: string }
  /** A read whose response was neither 200 nor 503. */
  | { kind: 'read'; path: string; status: number }
  /** A request of another kind of work was acknowledged, so what it names exists from then on. */
  | { kind: 'work'; work: OtherWork; ids: string[] }
  | { kind: 'work refused'; work: OtherWork; status: number; problem: string }
  /** WhatsApp created a template. */
  | { kind: 'template created'; name: string }
  /** What exists in the end. */
  | { kind: 'work found'; ids: string[] }
  | ({ kind: 'node'; change: NodeChange; detail?: string } & NodeLife)
  /** Messages that a killed process had marked as written in its send journal. */
  | ({ kind: 'marked'; messageIds: string[] } & NodeLife)
  | { kind: 'fault'; fault: string; phase: 'begin' | 'end'; detail?: string }
  /** The final state: what the API returns once the service is idle. */
  | { kind: 'message'; via: 'list' | 'get'; message: Message }
  | { kind: 'event'; eventId: string; event: MessageEvent }
)
export type OtherWork = 'import' | 'upload' | 'template'
export type NodeChange = 'started' | 'ready' | 'killed' | 'paused' | 'resumed' | 'exited' | 'failed to start'

/** An entry of one kind. */
export type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>

export interface LedgerWriter {
  write(entry: WithoutTime<Entry>): void
  close(): Promise<void>
}

/** Distributes over the kinds, which plain `Omit` does not. */
type WithoutTime<Each> = Each extends unknown ? Omit<Each, 'at'> : never

/** JSON lines. Each observing process writes its own file in the folder. */
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

/** All entries of a folder in chronological order. */
export function readLedger(folder: string): Entry[] {
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      // Only the writer above writes these files.
      .map((line) => JSON.parse(line) as Entry)
      .sort((a, b) => a.at - b.at)
  )
}
