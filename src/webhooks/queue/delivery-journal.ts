import type { Deps } from '../../deps.ts'
import { JournalFile, type JournalLocation, type Replay, splitJournal, startReplay } from '../../platform/journal.ts'
import type { Logger } from '../../platform/log.ts'
import { type EndedAttempt, recordAttempts } from './store.ts'

/**
 * Keeps the attempts that a receiver has acknowledged until they are recorded in the database, so that they survive the
 * process. Without it, a process that is killed in between leaves webhooks that are sent again.
 */
export interface DeliveryJournal {
  acknowledged(attempt: EndedAttempt): void
  /** Call this when the attempt is recorded, or can no longer be. */
  recorded(deliveryId: string): void
  close(): void
}

export const noDeliveryJournal: DeliveryJournal = { acknowledged: () => {}, recorded: () => {}, close: () => {} }

const kind = 'deliveries'

/** Opens a delivery journal for this process. */
export function openDeliveryJournal(
  location: JournalLocation,
  log: Logger,
  maxBytes?: number,
): DeliveryJournal & { name: string } {
  /** Lines of attempts that are not recorded yet. */
  const unrecorded = new Map<string, string>()
  const giveUp = (error: unknown) => {
    unrecorded.clear()
    log.warn(
      { err: error },
      'could not write the delivery journal; until this process is restarted, a crash repeats some webhooks',
    )
  }
  const file = new JournalFile(location, {
    kind,
    maxBytes,
    listNeeded: () => [...unrecorded.values()].join(''),
    abandoned: giveUp,
  })
  return {
    name: file.name,
    acknowledged: (attempt) => {
      if (!file.isOpen) return
      const line = lineOf(attempt)
      unrecorded.set(attempt.delivery.id, line)
      // At once: a turn of the event loop can take longer than a kill. A write takes 2 µs.
      try {
        file.append(line)
      } catch (error) {
        // The file could not even be removed. What it lists was delivered, so an old file does no harm.
        giveUp(error)
      }
    },
    recorded: (deliveryId) => void unrecorded.delete(deliveryId),
    close: () => file.close({ isNeeded: unrecorded.size > 0 }),
  }
}

/** Without the start of the response, which would make the line long. */
function lineOf({ delivery, result, startedAt }: EndedAttempt): string {
  const { accountId, id, generation } = delivery
  const duration = Math.round(result.durationMilliseconds)
  return `A ${accountId} ${id} ${generation} ${startedAt.getTime()} ${duration} ${result.statusCode ?? 0}\n`
}

/** Returns undefined if the journal is damaged. A torn line is an attempt that is repeated. */
export function readDeliveryJournal(text: string): EndedAttempt[] | undefined {
  const journal = splitJournal(text)
  if (!journal) return undefined
  const attempts = journal.lines.map(readLine)
  const read = attempts.filter((attempt) => attempt !== undefined)
  return read.length === attempts.length ? read : undefined
}

function readLine(line: string): EndedAttempt | undefined {
  const [, accountId, id, ...numbers] = /^A (acc_\w+) (\w+) (\d+) ([\d.]+) (\d+) (\d+)$/.exec(line) ?? []
  const [generation, startedAt, durationMilliseconds, statusCode] = numbers.map(Number)
  if (accountId === undefined || id === undefined || generation === undefined) return undefined
  if (startedAt === undefined || durationMilliseconds === undefined || statusCode === undefined) return undefined
  return {
    delivery: { accountId, id, generation },
    result: { outcome: 'delivered', statusCode, durationMilliseconds },
    startedAt: new Date(startedAt),
    waitSeconds: undefined,
  }
}

const batchSize = 1_000

/** Records the attempts that dead processes of this machine could not record themselves. */
export function startDeliveryJournalReplay(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  location: JournalLocation & { ownName?: string | undefined },
): Replay {
  const apply = async (attempts: readonly EndedAttempt[]) => {
    // Most were recorded before the process died.
    for (let from = 0; from < attempts.length; from += batchSize)
      await recordAttempts(db, attempts.slice(from, from + batchSize), { afterLease: true })
    return true
  }
  return startReplay(log, location, { kind, read: readDeliveryJournal, apply })
}
