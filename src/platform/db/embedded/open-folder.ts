import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { z } from 'zod'
import { ServiceError } from '../../../../contracts/errors.ts'
import { hasCluster } from './cluster.ts'
import { DurableFiles } from './durable-files.ts'

/** PGlite's start parameters, with flushes enabled and with a sync method that its file system supports. */
const startParameters = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
  // PostgreSQL's default of 128 MB would be resident from the start. Other pages come from the system's cache.
  '-c',
  'shared_buffers=32MB',
  // The single connection reads and writes synchronously. Buffers for concurrent I/O would take 4 MB.
  '-c',
  'io_max_concurrency=1',
]

// The default of 128 MB would double the memory of `initdb`. The server uses the start parameter instead.
const initParameters = ['--set', 'shared_buffers=4MB']

// Each thread that compiles WebAssembly keeps its memory: 40 MB in total by default.
const compilerFlag = '--wasm-num-compilation-tasks=1'

interface OpenFolder {
  pglite: PGlite
  files: DurableFiles
}

/** Opens the PGlite database of a folder with durable files, and creates it first if there is none. */
export async function openFolder(folder: string): Promise<OpenFolder> {
  if (!hasCluster(folder)) await createCluster(folder)
  return openFiles(folder)
}

/** Like `openFolder`, but creates the files in this process. */
export async function openFiles(folder: string): Promise<OpenFolder> {
  setFlagsFromString(compilerFlag)
  const files = new DurableFiles(folder)
  const options = { fs: files, startParams: startParameters, initDbStartParams: initParameters }
  const pglite = await PGlite.create(options).catch((error: unknown) => {
    throw toError(error)
  })
  return { pglite, files }
}

/** Codes of Node by the numbers that WASI, and so Emscripten, gives to the failures of a disk. */
const codes = new Map([
  [2, 'EACCES'],
  [19, 'EDQUOT'],
  [29, 'EIO'],
  [51, 'ENOSPC'],
  [63, 'EPERM'],
  [69, 'EROFS'],
])

const ErrnoError = z.object({ name: z.literal('ErrnoError'), errno: z.int() })

/** A failed file operation of Emscripten is an `ErrnoError`, which is no `Error` and has no message. */
function toError(error: unknown): unknown {
  const { data } = ErrnoError.safeParse(error)
  if (error instanceof Error || !data) return error
  const code = codes.get(data.errno) ?? `errno ${data.errno}`
  return Object.assign(new Error(`${code}: the files of the embedded database could not be written`), { code })
}

const stopped = 'Stopped while the embedded database was being created. The next start creates it anew.'

/** Keep the memory of this short-lived process small. */
const flags = ['--liftoff-only', '--max-semi-space-size=1', '--max-old-space-size=64']

const Failure = z.object({ message: z.string(), code: z.string().optional() })

/**
 * Creates the files of PostgreSQL in a folder, as `initdb` does. Runs in a separate process, because it takes 400 MB for
 * two copies of PostgreSQL's memory, and a server would never free 100 MB of them.
 */
export async function createCluster(folder: string): Promise<void> {
  // In the built package, both files are chunks in one folder.
  const script = path.join(import.meta.dirname, `cluster-process${path.extname(import.meta.filename)}`)
  const child = fork(script, [folder], { execArgv: flags, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  let failure: Error | undefined
  child.on('message', (message) => {
    const { message: text, code } = Failure.parse(message)
    failure = Object.assign(new Error(text), { code })
  })
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (failure) throw failure
  // Ctrl+C ends all processes of a terminal's foreground group.
  if (signal === 'SIGINT' || signal === 'SIGTERM') throw new ServiceError('SERVICE_UNAVAILABLE', stopped)
  if (exitCode !== 0)
    throw new Error(`the embedded database could not be created: its process ended with ${signal ?? exitCode}`)
}
