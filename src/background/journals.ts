import { createHash } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { openSendJournal, startSendJournalReplay } from '../messages/send-journal-file.ts'
import { noSendJournal, type SendJournal } from '../messages/send-journal.ts'
import type { Config } from '../platform/config.ts'
import { createPrivateFolder } from '../platform/db/embedded/data-folder.ts'
import { type JournalLocation, readBootId } from '../platform/journal.ts'
import {
  type DeliveryJournal,
  noDeliveryJournal,
  openDeliveryJournal,
  startDeliveryJournalReplay,
} from '../webhooks/queue/delivery-journal.ts'

export interface RunningJournals {
  sends: SendJournal
  deliveries: DeliveryJournal
  /** What dead processes could not record is recorded. Deliveries claimed earlier could be sent again. */
  replayed: Promise<unknown>
  /** Call it after the last send and the last delivery have ended. */
  stop(): Promise<void>
}

/**
 * Opens the journals of this process and replays those of processes that died. If none can be kept, the server runs
 * without: sends that a crash interrupts have an unknown outcome, and some webhooks are sent again.
 */
export function startJournals(
  deps: Pick<Deps, 'db' | 'log' | 'newId' | 'randomBytes' | 'notifications'>,
  config: Pick<Config, 'database' | 'journalDir'>,
  { sends, delivers }: { sends: boolean; delivers: boolean },
): RunningJournals {
  const location = findJournalLocation(deps, config)
  if (!location) return withoutJournals
  try {
    createPrivateFolder(location.folder)
    const ownSends = sends ? openSendJournal(location, deps.log) : undefined
    const ownDeliveries = delivers ? openDeliveryJournal(location, deps.log) : undefined
    const replays = [
      startSendJournalReplay(deps, { ...location, ownName: ownSends?.name }),
      startDeliveryJournalReplay(deps, { ...location, ownName: ownDeliveries?.name }),
    ]
    return {
      sends: ownSends ?? noSendJournal,
      deliveries: ownDeliveries ?? noDeliveryJournal,
      replayed: Promise.all(replays.map((replay) => replay.first)),
      stop: async () => {
        await Promise.all(replays.map((replay) => replay.stop()))
        ownSends?.close()
        ownDeliveries?.close()
      },
    }
  } catch (error) {
    deps.log.warn(
      { err: error, folder: location.folder },
      'could not open the journals: sends interrupted by a crash will have an unknown outcome, and some webhooks will be sent again. Set WAYBILL_DATA_DIR to a folder that this process can write to',
    )
    return withoutJournals
  }
}

const withoutJournals: RunningJournals = {
  sends: noSendJournal,
  deliveries: noDeliveryJournal,
  replayed: Promise.resolve(),
  stop: () => Promise.resolve(),
}

function findJournalLocation(
  { log }: Pick<Deps, 'log'>,
  { database, journalDir }: Pick<Config, 'database' | 'journalDir'>,
): JournalLocation | undefined {
  const bootId = readBootId()
  if (bootId !== undefined) return { folder: journalDir, database: identify(database), bootId }
  log.info('the journals require Linux: without them, sends interrupted by a crash have an unknown outcome')
  return undefined
}

/** A journal only applies to the database that stores its messages. */
function identify(database: Config['database']): string {
  if (database.kind === 'pglite') return 'embedded'
  const { host, pathname } = new URL(database.url)
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16)
}
