import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import type { ProcessRole } from '../../serve.ts'
import { type DatabaseConfig, readConfig } from '../../platform/config.ts'
import { createLogger } from '../../platform/log.ts'
import { localCommand, printed } from '../command.ts'
import { UsageError } from '../failure.ts'
import { hasLargeMemory, largeMemoryFlags, memorySizes, restartWithLargeMemory } from '../processes/memory.ts'
import { supervise } from '../processes/supervise.ts'

export const serve = localCommand({
  name: 'serve',
  summary: 'Run the service',
  args: [],
  options: {
    role: {
      value: 'all|api|worker',
      help: 'api: serve HTTP requests; worker: deliver webhooks, emails and chat posts; all (default): both',
      choices: ['all', 'api', 'worker'],
    },
    memory: {
      value: 'normal|large',
      help: 'large: up to 300 MB per process for more throughput (see the operating guide); normal is the default',
      choices: memorySizes,
    },
    processes: {
      value: 'N|auto',
      help: 'Server processes on one port (PostgreSQL only); auto: one per CPU core, at most 64. SIGHUP replaces them one after the other, without a gap',
    },
  },
  notes: [
    'Configured by environment variables, such as DATABASE_URL, PORT and HOST (see the configuration guide).\nDATABASE_URL supports sslmode, sslrootcert, sslcert and sslkey. For a password that changes, set PGPASSFILE or\nDATABASE_PASSWORD_COMMAND.\nOn SIGTERM, readiness fails first; then running requests and deliveries finish.',
  ],
  examples: [
    'waybill serve',
    'DATABASE_URL=postgres://… WAYBILL_SECRET_KEY=… waybill serve --processes auto',
    'DATABASE_URL=postgres://… WAYBILL_SECRET_KEY=… HOST=0.0.0.0 waybill serve',
  ],
  run: async (environment, { json, options: { role, memory, processes } }) => {
    const config = readConfig(environment)
    const print = (url: string) => console.log(json ? JSON.stringify({ url }) : `Waybill is listening on ${url}`)
    const count = processes === undefined ? undefined : readProcesses(processes, config.database)
    const isLarge = memory === 'large'
    // One process, too, is replaced without a gap. Only one can use the embedded database.
    if (count !== undefined && config.database.kind === 'postgres' && cluster.isPrimary) {
      if (isLarge) cluster.setupPrimary({ execArgv: [...process.execArgv, ...largeMemoryFlags] })
      return printed(await supervise({ processes: count, log: createLogger(config.logLevel), whenListening: print }))
    }
    if (isLarge && !hasLargeMemory()) return printed(await restartWithLargeMemory())
    // Imported here, because other commands start faster without it.
    const { runServer } = await import('../run-server.ts')
    await runServer(config, {
      command: 'serve',
      // One of the choices above, checked by the syntax.
      ...(role !== undefined && { role: role as ProcessRole }),
      whenListening: async (_app, url) => print(url),
      drainMilliseconds: 1_000,
    })
    return printed()
  },
})

const maxProcesses = 64

export function readProcesses(text: string, database: DatabaseConfig): number {
  const count = text === 'auto' ? Math.min(availableParallelism(), maxProcesses) : Number(text)
  if (!Number.isInteger(count) || count < 1 || count > maxProcesses)
    throw new UsageError(`--processes takes a number from 1 to ${maxProcesses}, or auto.`)
  if (count > 1 && database.kind === 'pglite')
    throw new UsageError(
      'The embedded database belongs to one process. Set DATABASE_URL to use several, or leave out --processes.',
    )
  return count
}
