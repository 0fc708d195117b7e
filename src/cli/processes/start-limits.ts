import { setFlagsFromString } from 'node:v8'

/**
 * V8 flags while a server loads its modules. No code runs often enough to benefit from the optimizing compilers, and a
 * young generation that grows for long-lived modules never shrinks. Together they would cost 40 MB.
 */
const limits = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1']
const defaults = ['--opt', '--maglev', '--semi-space-growth-factor=2']

const servers: ReadonlySet<string | undefined> = new Set(['serve', 'sandbox'])

/** Called with the command line before anything else is loaded. */
export function limitStartMemory([command]: readonly string[], environment: NodeJS.ProcessEnv): void {
  if (!servers.has(command)) return
  if (isEmbedded(command, environment)) restartWithLessMemory(environment)
  limits.forEach(setFlagsFromString)
}

function isEmbedded(command: string | undefined, { DATABASE_URL, DATABASE_URL_FILE }: NodeJS.ProcessEnv): boolean {
  return command === 'sandbox' || (!DATABASE_URL && !DATABASE_URL_FILE)
}

/**
 * By default, glibc keeps freed memory for each thread: 80 MB after a burst of sends with the embedded database. With
 * these variables, threads share one arena, and large blocks are returned to the system.
 */
const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' }
/** The heap grows by 30 % between collections. PGlite dominates the time of a send, so more collections do not matter. */
const slowGrowth = '--heap-growing-percent=30'

/** Restarts this process under the same process ID, because the variables and the flag are read at process start. */
function restartWithLessMemory(environment: NodeJS.ProcessEnv): void {
  // Set by the operator, or by this function before the restart.
  if (process.platform !== 'linux' || !process.execve || environment['MALLOC_ARENA_MAX'] !== undefined) return
  // `node --watch` would lose the channel by which it learns the files to watch.
  if (environment['WATCH_REPORT_DEPENDENCIES'] !== undefined) return
  const args = [...process.execArgv, slowGrowth, ...process.argv.slice(1)]
  process.execve(process.execPath, [process.execPath, ...args], definedOnly({ ...environment, ...allocator }))
}

/** Returns the environment without undefined values. */
export function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/**
 * A full collection leaves about 40 MB, and by itself V8 then starts the next one after 15 MB more: once or twice a second
 * under load. What a burst leaves is collected when the server is idle.
 */
const fastGrowth = '--heap-growing-percent=300'

/**
 * V8 creates an object in the old space if most objects of its kind have survived a collection, as parts of requests that
 * wait for WhatsApp do. Whatever it refers to then stays until a full collection: the heads of nearly all responses did. A
 * process that is started with `--allocation-site-pretenuring` keeps V8's default.
 */
const noPretenuring = '--no-allocation-site-pretenuring'

/** Restores V8's defaults when the server starts to accept requests, and lets its heap grow under load. */
export function liftStartLimits({ isEmbedded }: { isEmbedded: boolean }): void {
  defaults.forEach(setFlagsFromString)
  if (!process.execArgv.includes('--allocation-site-pretenuring')) setFlagsFromString(noPretenuring)
  if (!isEmbedded) setFlagsFromString(fastGrowth)
}
