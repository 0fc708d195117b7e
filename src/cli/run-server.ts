import { ServiceError } from '../../contracts/errors.ts'
import { type App, buildApp } from '../app.ts'
import { type Role, type Serving, startServing } from '../http/serve.ts'
import type { Config } from '../platform/config.ts'
import type { DataFolder, LockHolder } from '../platform/db/data-folder.ts'
import { migrate } from '../platform/db/migrate.ts'
import { describeLockHolder, ownDataFolder } from './control/data-folder.ts'
import { startControlServer } from './control/server.ts'
import { chooseSocketPlace } from './control/socket.ts'

export interface ServerRun {
  command: 'serve' | 'sandbox'
  role?: Role
  /** What there is to do and to say once it listens. */
  whenListening: (app: App, url: string) => Promise<void>
  /** How long a terminated server still answers while load balancers learn that it goes. */
  drainMilliseconds: number
}

const servers: ReadonlySet<string> = new Set<ServerRun['command']>(['serve', 'sandbox'])

/** Serves until a signal says stop; takes the commands of other processes where they cannot reach the data. */
export async function runServer(config: Config, run: ServerRun): Promise<void> {
  const stopped = untilStopped()
  // What was opened last is closed first, also when the next thing cannot be opened.
  await using resources = new AsyncDisposableStack()
  const folder = config.database.kind === 'pglite' ? await own(config.database.dataDir, run.command) : undefined
  resources.defer(() => folder?.release())
  const app = buildApp(config)
  resources.defer(() => app.close())
  await migrate(app.deps.db)
  if (folder) resources.use(await takeCommands(app, folder))
  const serving = await listen(app, run)
  let drainMilliseconds = 0
  resources.defer(() => serving.stop({ drainMilliseconds }))
  await run.whenListening(app, serving.url)
  if ((await stopped) === 'SIGTERM') drainMilliseconds = run.drainMilliseconds
}

/** A command is waited for; another server stays. */
async function own(dataDir: string, command: string): Promise<DataFolder> {
  const owned = await ownDataFolder(dataDir, command, (owner) => Promise.resolve(isServing(owner) ? owner : undefined))
  if ('folder' in owned) return owned.folder
  throw new ServiceError(
    'SETTING_REFUSED',
    `${describeLockHolder(dataDir, owned.met)} A data folder has one server: stop that one, or set WAYBILL_DATA_DIR to another folder.`,
  )
}

/** One that was killed leaves its name behind, so it is asked for a sign of life. */
function isServing({ command, pid }: LockHolder): boolean {
  if (!servers.has(command)) return false
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function takeCommands(app: App, folder: DataFolder): Promise<AsyncDisposable> {
  const place = chooseSocketPlace(folder.dataDir)
  const control = await startControlServer(app.deps, place)
  folder.announce(place.path)
  return { [Symbol.asyncDispose]: () => control.stop() }
}

async function listen(app: App, { command, role = 'all' }: ServerRun): Promise<Serving> {
  try {
    return await startServing(app, { sandbox: command === 'sandbox', role })
  } catch (error) {
    throw describeListenError(error, app.config, command) ?? error
  }
}

function describeListenError(error: unknown, { host, port }: Config, command: ServerRun['command']) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const again = `PORT=${port + 1} ${command === 'sandbox' ? 'npm start' : 'waybill serve'}`
  if (code === 'EADDRINUSE')
    return new ServiceError('SETTING_REFUSED', `Port ${port} is in use by another program. Take another one: ${again}`)
  if (code === 'EACCES')
    return new ServiceError('SETTING_REFUSED', `Port ${port} is reserved by the system. Take another one: PORT=3000`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ServiceError(
      'SETTING_REFUSED',
      `HOST=${host} is no address of this machine. 127.0.0.1 is, and 0.0.0.0 is all of them.`,
    )
  return undefined
}

/** npm passes on the Ctrl+C that the terminal has sent to everybody: one key, two signals. */
const echoMilliseconds = 500

/** Resolves at the first SIGINT or SIGTERM. Whoever asks again, because stopping takes too long, gets it at once. */
export function untilStopped(): Promise<'SIGINT' | 'SIGTERM'> {
  const { promise, resolve } = Promise.withResolvers<'SIGINT' | 'SIGTERM'>()
  let firstAt: number | undefined
  const receive = (signal: 'SIGINT' | 'SIGTERM') => {
    if (firstAt !== undefined && Date.now() - firstAt > echoMilliseconds) process.exit(signal === 'SIGINT' ? 130 : 143)
    firstAt ??= Date.now()
    resolve(signal)
  }
  process.on('SIGINT', receive)
  process.on('SIGTERM', receive)
  return promise
}
