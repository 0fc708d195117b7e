import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { createCluster, hasCluster } from './create-cluster.ts'
import { DurableFiles } from './durable-files.ts'

/** PGlite's start parameters, but with flushes and the sync call that its file system passes on. */
const startParameters = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
  // PostgreSQL's default of 128 MB would be resident from the start. Other pages come from the system's cache.
  '-c',
  'shared_buffers=32MB',
  // There is one connection, and it reads and writes synchronously: buffers for others take 4 MB.
  '-c',
  'io_max_concurrency=1',
]

// The default of 128 MB would double the memory of `initdb`. The start parameter replaces it.
const initParameters = ['--set', 'shared_buffers=4MB']

// Each thread that compiles WebAssembly keeps the memory that it used: 40 MB together.
const compilerFlag = '--wasm-num-compilation-tasks=1'

interface OpenFolder {
  pglite: PGlite
  files: DurableFiles
}

/** Opens the PGlite in a folder, with the files that flush for it. Creates them first if there are none. */
export async function openFolder(folder: string): Promise<OpenFolder> {
  if (!hasCluster(folder)) await createCluster(folder)
  return openFiles(folder)
}

/** As `openFolder`, but creates the files in this process. */
export async function openFiles(folder: string): Promise<OpenFolder> {
  setFlagsFromString(compilerFlag)
  const files = new DurableFiles(folder)
  const options = { fs: files, startParams: startParameters, initDbStartParams: initParameters }
  return { pglite: await PGlite.create(options), files }
}
