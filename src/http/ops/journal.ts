import { createHash } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import { type JournalLocation, openSendJournal, readBootId } from '../../messages/journal/file.ts'
import { noJournal, type SendJournal } from '../../messages/journal/journal.ts'
import { startJournalReplay } from '../../messages/journal/replay.ts'
import type { Config } from '../../platform/config.ts'
import { createPrivateFolder } from '../../platform/db/embedded/data-folder.ts'

export interface RunningJournal {
  journal: SendJournal
  /** Call it after the last send has ended. */
  stop(): Promise<void>
}

/**
 * Opens the send journal of this process and replays the journals of processes that died. If no journal can be kept,
 * the server runs without one, and sends interrupted by a crash have an unknown outcome.
 */
export function startJournal(
  deps: Pick<Deps, 'db' | 'log'>,
  config: Pick<Config, 'database' | 'journalDir'>,
  { sends }: { sends: boolean },
): RunningJournal {
  const location = findJournalLocation(deps, config)
  if (!location) return withoutJournal
  try {
    createPrivateFolder(location.folder)
    const own = sends ? openSendJournal(location, deps.log) : undefined
    const replay = startJournalReplay(deps, { ...location, ownName: own?.name })
    return {
      journal: own ?? noJournal,
      stop: async () => {
        await replay.stop()
        own?.close()
      },
    }
  } catch (error) {
    deps.log.warn(
      { err: error, folder: location.folder },
      'could not open the send journal: sends interrupted by a crash will have an unknown outcome. Set WAYBILL_DATA_DIR to a folder that this process can write to',
    )
    return withoutJournal
  }
}

const withoutJournal: RunningJournal = { journal: noJournal, stop: () => Promise.resolve() }

function findJournalLocation(
  { log }: Pick<Deps, 'log'>,
  { database, journalDir }: Pick<Config, 'database' | 'journalDir'>,
): JournalLocation | undefined {
  const bootId = readBootId()
  if (bootId !== undefined) return { folder: journalDir, database: identify(database), bootId }
  log.info('the send journal requires Linux: sends interrupted by a crash will have an unknown outcome')
  return undefined
}

/** A journal only applies to the database that stores its messages. */
function identify(database: Config['database']): string {
  if (database.kind === 'pglite') return 'embedded'
  const { host, pathname } = new URL(database.url)
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16)
}
