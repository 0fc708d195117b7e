import { Registry } from 'prom-client'
import { ServiceError } from '../../contracts/errors.ts'
import { type App, buildApp } from '../app.ts'
import { type Drain, type ProcessRole, type Serving, startServing } from '../serve.ts'
import type { Deps } from '../deps.ts'
import type { Config } from '../platform/config.ts'
import type { DataFolder, LockHolder } from '../platform/db/embedded/data-folder.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { describeProgress, migrate, type MigrationProgress } from '../platform/db/migrate/migrate.ts'
import { codeOf } from '../platform/error-code.ts'
import { createLogger, type Logger } from '../platform/log.ts'
import type { Telemetry } from '../platform/telemetry/telemetry.ts'
import { listAuditKeys } from '../users/audit/chain.ts'
import { rejectUnfinishedMove } from './move/marker.ts'
import { acquireDataFolder, describeLockHolder } from './control/data-folder.ts'
import { startControlServer } from './control/server.ts'
import { chooseControlSocket } from './control/protocol.ts'
import { joinSupervisor, type SupervisedProcess } from './processes/supervised-process.ts'
import { collectWhenIdle, hasLargeMemory } from './processes/memory.ts'
import { liftStartLimits } from './processes/start-limits.ts'
import { untilStopped } from './until-stopped.ts'

export interface ServerRun {
  command: 'serve' | 'sandbox'
  role?: ProcessRole
  /** Rejects data that this server must not use, before it is migrated. */
  checkData?: (app: App) => Promise<void>
  /** Called once the server listens. */
  whenListening: (app: App, url: string) => Promise<void>
  /** How long a terminated server keeps serving while load balancers notice that it is not ready. */
  drainMilliseconds: number
}

/** For output that is still being written. */
const exitMilliseconds = 500

const servers: ReadonlySet<string> = new Set<ServerRun['command']>(['serve', 'sandbox'])

/** Serves until a signal stops it. With an embedded database, it also runs the commands of other processes. */
export async function runServer(config: Config, run: ServerRun): Promise<void> {
  const registry = new Registry()
  const supervised = joinSupervisor(process.env, registry)
  // A supervisor replaces its processes at SIGHUP. A process without one finishes what it does, and ends.
  const stopped = supervised
    ? Promise.race([untilStopped(['SIGINT', 'SIGTERM']), supervised.stopped])
    : untilStopped(['SIGINT', 'SIGTERM', 'SIGHUP'])
  // Resources are closed in reverse order, even if opening the next one fails.
  await using resources = new AsyncDisposableStack()
  let hasServed = false
  resources.defer(() => void (hasServed && exitSoon()))
  resources.defer(() => supervised?.leave())
  const telemetry = await loadTelemetry(config, registry)
  const log = createServerLog(config, supervised, telemetry)
  telemetry?.start(log)
  resources.defer(async () => {
    if ((await telemetry?.stop()) === 'timed out') exitSoon()
  })
  const folder = config.database.kind === 'pglite' ? await lockFolder(config.database.dataDir, run.command) : undefined
  resources.defer(() => folder?.release())
  const app = buildApp(config, { log, tracing: telemetry?.tracing })
  resources.defer(() => app.close())
  await run.checkData?.(app)
  if (!(await migrateUnlessStopped(app.deps, stopped))) return
  await rejectUnfinishedMove(app.deps.db)
  await reportWrongKey(app.deps)
  if (folder) resources.use(await acceptCommands(app, folder))
  const serving = await listen(app, run, registry, supervised)
  hasServed = true
  liftStartLimits({ isEmbedded: config.database.kind === 'pglite' })
  // A process with large memory trades memory for throughput.
  if (!hasLargeMemory()) collectWhenIdle()
  let drain: Drain = {}
  resources.defer(() => serving.stop(drain))
  if (supervised) supervised.reportListening(serving.url)
  else await run.whenListening(app, serving.url)
  const reason = await stopped
  if (reason !== 'SIGINT') drain = { drainMilliseconds: run.drainMilliseconds, staysReady: reason === 'retired' }
}

/** Returns false if the server was stopped while it waited for another process, which may migrate for a long time. */
async function migrateUnlessStopped({ db, log }: Deps, stopped: Promise<unknown>): Promise<boolean> {
  const stopping = new AbortController()
  const { signal } = stopping
  void stopped.then(() => stopping.abort())
  try {
    await migrate(db, { onProgress: (progress) => logProgress(log, progress), signal })
    return true
  } catch (error) {
    if (signal.aborted && error instanceof Error && error.name === 'AbortError') return false
    throw error
  }
}

/** Otherwise, one request after the other would fail. The keys of the audit log stand for all stored secrets. */
async function reportWrongKey({ db, secrets, log }: Deps): Promise<void> {
  const keys = await listAuditKeys(db)
  try {
    for (const { ciphertext, purpose } of keys) secrets.decrypt(ciphertext, purpose)
  } catch (error) {
    log.error(
      { err: error },
      'WAYBILL_SECRET_KEY is not the key of this database: sends, webhooks and changes will fail',
    )
  }
}

/** The OpenTelemetry packages are loaded only if something is exported. */
async function loadTelemetry(config: Config, registry: Registry): Promise<Telemetry | undefined> {
  if (!config.telemetry) return undefined
  const { createTelemetry } = await import('../platform/telemetry/telemetry.ts')
  return createTelemetry(config.telemetry, { registry, version: packageJson.version })
}

function createServerLog(
  { logLevel }: Config,
  supervised: SupervisedProcess | undefined,
  telemetry: Telemetry | undefined,
): Logger {
  const log = createLogger(logLevel, undefined, telemetry?.tracing?.logFields)
  return supervised ? log.child({ process: supervised.number }) : log
}

/** Connections to servers that do not respond would keep the process alive, and nothing else is left to do. */
function exitSoon(): void {
  setTimeout(() => process.exit(), exitMilliseconds).unref()
}

function logProgress(log: Logger, progress: MigrationProgress): void {
  log.info(progress, describeProgress(progress))
}

/** Waits for a command to release the data folder, but not for another server. */
async function lockFolder(dataDir: string, command: string): Promise<DataFolder> {
  const acquired = await acquireDataFolder(dataDir, command, (holder) =>
    Promise.resolve(isServing(holder) ? holder : undefined),
  )
  if ('folder' in acquired) return acquired.folder
  throw new ServiceError(
    'SETTING_REFUSED',
    `${describeLockHolder(dataDir, acquired.result)} Only one server can use a data folder: stop the other one, or set WAYBILL_DATA_DIR to another folder.`,
  )
}

/** A killed server leaves its lock description behind, so check that the process still exists. */
function isServing({ command, pid }: LockHolder): boolean {
  if (!servers.has(command)) return false
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function acceptCommands(app: App, folder: DataFolder): Promise<AsyncDisposable> {
  const socket = chooseControlSocket(folder.dataDir)
  const control = await startControlServer(app.deps, socket)
  folder.announce(socket.path)
  return { [Symbol.asyncDispose]: () => control.stop() }
}

async function listen(
  app: App,
  { command, role = 'all' }: ServerRun,
  registry: Registry,
  supervised: SupervisedProcess | undefined,
): Promise<Serving> {
  try {
    return await startServing(app, {
      sandbox: command === 'sandbox',
      role,
      registry,
      ...(supervised && { doesHousekeeping: supervised.number === 1, collectMetrics: supervised.collectMetrics }),
    })
  } catch (error) {
    throw describeListenError(error, app.config, command) ?? error
  }
}

function describeListenError(error: unknown, { host, port }: Config, command: ServerRun['command']) {
  const code = codeOf(error)
  const otherPort = `PORT=${port + 1} ${command === 'sandbox' ? 'npm start' : 'waybill serve'}`
  if (code === 'EADDRINUSE')
    return new ServiceError(
      'SETTING_REFUSED',
      `Port ${port} is in use by another program. Use another port: ${otherPort}`,
    )
  if (code === 'EACCES')
    return new ServiceError('SETTING_REFUSED', `Port ${port} requires system privileges. Use another port: PORT=3000`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ServiceError(
      'SETTING_REFUSED',
      `HOST=${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all addresses.`,
    )
  return undefined
}
