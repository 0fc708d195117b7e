import { setFlagsFromString } from 'node:v8'

/**
 * Limits of V8 while a server loads its modules. Nothing runs often enough then to repay the optimizing compilers, and
 * a young generation that grows for modules, which stay, never shrinks again: together they would keep 40 MB.
 */
const limits = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1']
const defaults = ['--opt', '--maglev', '--semi-space-growth-factor=2']

const servers: ReadonlySet<string | undefined> = new Set(['serve', 'sandbox'])

/** Called with the command line before anything else is loaded. */
export function limitStart([command]: readonly string[], environment: NodeJS.ProcessEnv): void {
  if (!servers.has(command)) return
  if (isEmbedded(command, environment)) spareMemory(environment)
  limits.forEach(setFlagsFromString)
}

function isEmbedded(command: string | undefined, { DATABASE_URL, DATABASE_URL_FILE }: NodeJS.ProcessEnv): boolean {
  return command === 'sandbox' || (!DATABASE_URL && !DATABASE_URL_FILE)
}

/**
 * glibc keeps what each thread has freed, 80 MB after a burst of sends to the embedded database: with these variables, all
 * threads share, and large blocks are returned.
 */
const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' }
/** A third more between two collections. PGlite takes most of the time of a send, so that more of them are not noticed. */
const slowGrowth = '--heap-growing-percent=30'

/** Both are read when a process starts, so this one starts again, under the same process ID. */
function spareMemory(environment: NodeJS.ProcessEnv): void {
  // Of the operator, or of this process after its start.
  if (process.platform !== 'linux' || !process.execve || environment['MALLOC_ARENA_MAX'] !== undefined) return
  const args = [...process.execArgv, slowGrowth, ...process.argv.slice(1)]
  process.execve(process.execPath, [process.execPath, ...args], definedOnly({ ...environment, ...allocator }))
}

/** The environment as a new process takes it. */
export function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** From now on requests arrive: V8 optimizes and grows as usual. */
export function endStart(): void {
  defaults.forEach(setFlagsFromString)
}
