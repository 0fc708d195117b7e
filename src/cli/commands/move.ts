import { ServiceError } from '../../../contracts/errors.ts'
import { type Config, readConfig } from '../../platform/config.ts'
import { type DatabaseUrl, DatabaseUrlError, parseDatabaseUrl } from '../../platform/database-url.ts'
import type { LockHolder } from '../../platform/db/embedded/data-folder.ts'
import { type CommandResult, localCommand } from '../command.ts'
import { acquireDataFolder, describeLockHolder } from '../control/data-folder.ts'
import { UsageError } from '../failure.ts'
import { formatTable } from '../help.ts'
import { readMoveMarker, removeMoveMarker } from '../move/marker.ts'
import { moveDatabase, type MoveResult } from '../move/move.ts'

export const move = localCommand({
  name: 'move',
  summary: 'Move the embedded database to PostgreSQL',
  args: [],
  options: {
    to: { value: 'URL', help: 'postgres:// URL of an empty database; - reads it from standard input', secret: true },
    cancel: { help: 'End an unfinished move, and use the embedded database again' },
  },
  notes: [
    'Stop the server first. Copies every row, compares both databases, and prints the variables to set. Nothing in the\nembedded database is changed, and no server can use either database until the move is finished. If the command is\ninterrupted, run it again: it continues.',
  ],
  examples: ['waybill move --to postgres://waybill@db.example.com/waybill', 'waybill move --to - < url.txt'],
  run: async (environment, { json, options: { to, cancel } }) => {
    if ((to === undefined) === (cancel !== true)) throw new UsageError('Pass either --to URL or --cancel.')
    const target = to === undefined ? undefined : parseUrl(to)
    const config = readConfig(environment)
    if (config.database.kind !== 'pglite')
      throw new ServiceError(
        'SETTING_REFUSED',
        'DATABASE_URL is set, so there is no embedded database to move. Unset it, and name the target with --to.',
      )
    const { dataDir } = config.database
    const acquired = await acquireDataFolder(dataDir, 'move', (holder) => rejectServer(dataDir, holder), {
      duringMove: true,
    })
    if ('result' in acquired) throw acquired.result
    try {
      return target === undefined ? cancelMove(dataDir) : await moveTo({ config, dataDir, to: target, json })
    } finally {
      acquired.folder.release()
    }
  },
})

/** Recognizes a server, which does not end soon like a command, by its control socket. */
function rejectServer(dataDir: string, holder: LockHolder): Promise<ServiceError | undefined> {
  if (holder.socket === null) return Promise.resolve(undefined)
  const reason = `${describeLockHolder(dataDir, holder)} Stop it first: nothing can be written during a move.`
  return Promise.resolve(new ServiceError('SETTING_REFUSED', reason))
}

function parseUrl(text: string): DatabaseUrl {
  try {
    return parseDatabaseUrl(text)
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new UsageError(`--to ${error.message}.`)
    throw error
  }
}

function cancelMove(dataDir: string): CommandResult {
  const marker = readMoveMarker(dataDir)
  if (marker?.state !== 'moving') throw new ServiceError('SETTING_REFUSED', 'There is no unfinished move.')
  removeMoveMarker(dataDir)
  const text = `The move to ${marker.target} is cancelled. The embedded database can be used again. Drop the target database, which holds part of the data.`
  return { json: { cancelled: marker.target }, text }
}

async function moveTo(run: {
  config: Config
  dataDir: string
  to: DatabaseUrl
  json: boolean
}): Promise<CommandResult> {
  let reported = 0
  const moved = await moveDatabase({
    ...run,
    report: ({ table, rows }) => {
      // One line per second is enough to show progress.
      if (run.json || performance.now() - reported < 1_000) return
      reported = performance.now()
      console.error(`${table}: ${rows} rows copied`)
    },
  })
  return { json: moved, text: describe(moved) }
}

function describe({ target, tables, secrets, secretKeyFile }: MoveResult): string {
  const key =
    secretKeyFile === undefined
      ? 'WAYBILL_SECRET_KEY      unchanged'
      : `WAYBILL_SECRET_KEY_FILE ${secretKeyFile} (or a copy of this file)`
  return [
    formatTable(
      ['TABLE', 'ROWS'],
      tables.map(({ name, rows }) => [name, String(rows)]),
    ),
    `The embedded database is moved to ${target}. Every table has the same rows in both, and the key decrypts all ${secrets} stored secrets.`,
    `Set for every process:\n  DATABASE_URL            the URL that you passed to --to\n  ${key}`,
    'Verify with waybill doctor, then start the server. Keep the data folder: servers still use its media, journal and\nsecret.key. Once the new server works, delete only pgdata, the old database, which no server can use any more.',
  ].join('\n\n')
}
