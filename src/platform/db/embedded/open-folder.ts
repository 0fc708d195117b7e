import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { createCluster, hasCluster } from './create-cluster.ts'
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
  return { pglite: await PGlite.create(options), files }
}
