import { ServiceError } from '../../contracts/errors.ts'
import { buildApp } from '../app.ts'
import type { Deps } from '../deps.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { listPendingMigrations, migrate } from '../platform/db/migrate/migrate.ts'
import { rejectPooler, rejectUnusableSettings } from '../platform/db/connect/session.ts'
import { rejectUnfinishedMove } from './move/marker.ts'
import { createLogger } from '../platform/log.ts'
import type { CommandResult, DataCommand, User } from './command.ts'
import { runOnServer } from './control/client.ts'
import { acquireDataFolder } from './control/data-folder.ts'
import type { ControlReply } from './control/protocol.ts'
import { ReportedError, waybill } from './failure.ts'
import { formatLine, type Line } from './syntax.ts'

export interface DataRun {
  command: DataCommand
  line: Line
  user: User
}

/** Runs a command in the process that can access the data: this one, or the server that holds the data folder. */
export function runDataCommand(run: DataRun, environment: NodeJS.ProcessEnv): Promise<CommandResult> {
  const config = readConfig(environment)
  return config.database.kind === 'postgres' ? runHere(run, config) : runEmbedded(run, config, config.database.dataDir)
}

async function runEmbedded(run: DataRun, config: Config, dataDir: string): Promise<CommandResult> {
  const { command, line, user } = run
  const argv = [...command.name.split(' '), ...formatLine(line)]
  const acquired = await acquireDataFolder(dataDir, command.name, async ({ socket }) =>
    socket === null ? undefined : runOnServer({ dataDir, socketPath: socket }, argv, user),
  )
  if ('result' in acquired) return readReply(acquired.result)
  try {
    return await runHere(run, config)
  } finally {
    acquired.folder.release()
  }
}

function readReply(reply: ControlReply): CommandResult {
  if (!reply.ok) throw new ReportedError(reply.failure)
  return reply.answer
}

async function runHere({ command, line, user }: DataRun, config: Config): Promise<CommandResult> {
  // The command prints its own result, so informational log messages are suppressed.
  const log = createLogger(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const app = buildApp(config, { log })
  try {
    await prepareSchema(app.deps, config, command)
    return await command.run(app.deps, line, user)
  } finally {
    await app.close()
  }
}

/**
 * An embedded database belongs to this process and is migrated automatically. PostgreSQL is not, because other processes
 * use it.
 */
async function prepareSchema({ db }: Deps, config: Config, command: DataCommand): Promise<void> {
  if (config.database.kind === 'pglite') return void (await migrate(db))
  if (!command.needsSchema) return
  await rejectPooler(db)
  await rejectUnusableSettings(db)
  await rejectUnfinishedMove(db)
  if ((await listPendingMigrations(db)).length > 0)
    throw new ServiceError('SETTING_REFUSED', `The database schema is out of date. Run: ${waybill} migrate`)
}
