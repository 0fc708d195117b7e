import { createHash } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import { type JournalPlace, openSendJournal, readBootId } from '../../messages/journal/file.ts'
import { noJournal, type SendJournal } from '../../messages/journal/journal.ts'
import { startJournalReplay } from '../../messages/journal/replay.ts'
import type { Config } from '../../platform/config.ts'
import { createPrivateFolder } from '../../platform/db/data-folder.ts'

export interface RunningJournal {
  journal: SendJournal
  /** Call it when nothing is sent any more. */
  stop(): Promise<void>
}

/**
 * Opens the journal of this process and replays those of dead ones. Where none can be kept, the server serves
 * without: what a crash interrupts then counts as unknown.
 */
export function startJournal(
  deps: Pick<Deps, 'db' | 'log'>,
  config: Pick<Config, 'database' | 'journalDir'>,
  { sends }: { sends: boolean },
): RunningJournal {
  const place = findPlace(deps, config)
  if (!place) return withoutJournal
  try {
    createPrivateFolder(place.folder)
    const own = sends ? openSendJournal(place, deps.log) : undefined
    const replay = startJournalReplay(deps, { ...place, ownName: own?.name })
    return {
      journal: own ?? noJournal,
      stop: async () => {
        await replay.stop()
        own?.close()
      },
    }
  } catch (error) {
    deps.log.warn(
      { err: error, folder: place.folder },
      'no send journal can be kept: sends that a crash interrupts count as unknown. Make WAYBILL_DATA_DIR a folder that this process may write',
    )
    return withoutJournal
  }
}

const withoutJournal: RunningJournal = { journal: noJournal, stop: () => Promise.resolve() }

function findPlace(
  { log }: Pick<Deps, 'log'>,
  { database, journalDir }: Pick<Config, 'database' | 'journalDir'>,
): JournalPlace | undefined {
  const bootId = readBootId()
  if (bootId !== undefined) return { folder: journalDir, database: identify(database), bootId }
  log.info('a send journal is kept on Linux only: sends that a crash interrupts count as unknown')
  return undefined
}

/** A journal counts for the database that its messages are in. */
function identify(database: Config['database']): string {
  if (database.kind === 'pglite') return 'embedded'
  const { host, pathname } = new URL(database.url)
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16)
}
