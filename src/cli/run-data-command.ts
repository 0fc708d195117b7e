import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { ServiceError } from '../../contracts/errors.ts'
import { buildApp } from '../app.ts'
import type { Deps } from '../deps.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { rejectPooler, rejectUnusableSettings } from '../platform/db/connect/session.ts'
import { listPendingMigrations, migrate } from '../platform/db/migrate/migrate.ts'
import { createLogger } from '../platform/log.ts'
import type { CommandResult, CommandUser, DataCommand } from './command.ts'
import { acquireDataFolder } from './control/data-folder.ts'
import { type Answer, type ControlReply, FromServer, isTrustworthy, type Request } from './control/protocol.ts'
import { ReportedError, waybill } from './failure.ts'
import { readLines } from './input.ts'
import { rejectUnfinishedMove } from './move/marker.ts'
import { OutputError } from './output.ts'
import { formatLine, type Line } from './syntax.ts'

export interface DataRun {
  command: DataCommand
  line: Line
  user: CommandUser
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

/** Runs a command in a running server. Returns undefined if no server is listening; then nothing was executed. */
export async function runOnServer(
  { dataDir, socketPath }: { dataDir: string; socketPath: string },
  argv: string[],
  { report, print, ask }: CommandUser,
): Promise<ControlReply | undefined> {
  if (!isTrustworthy(socketPath, dataDir)) return undefined
  const socket = await open(socketPath)
  if (!socket) return undefined
  const send = (message: Request | Answer) => socket.write(JSON.stringify(message) + '\n')
  try {
    send({ argv })
    for await (const line of readLines(socket)) {
      const message = FromServer.parse(JSON.parse(line))
      if ('ok' in message && message.ok && message.answer.question !== undefined) throw otherVersion()
      if ('ok' in message) return message
      if ('progress' in message) report(message.progress)
      else if ('output' in message) await print(message.output)
      else send({ answer: await ask(message.question) })
    }
    throw new Error('closed without a response')
  } catch (error) {
    if (error instanceof ServiceError || error instanceof OutputError) throw error
    throw new ServiceError(
      'SETTING_REFUSED',
      'The running server stopped before it responded. Check whether the command took effect before you repeat it.',
      { cause: error },
    )
  } finally {
    socket.destroy()
  }
}

/** Nothing was changed: a server of an earlier version asks before any change, and expects the command again. */
function otherVersion(): ServiceError {
  return new ServiceError('SETTING_REFUSED', 'The running server has another version. Restart it with this version.')
}

async function open(socketPath: string): Promise<Socket | undefined> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    socket.destroy()
    return undefined
  }
}
