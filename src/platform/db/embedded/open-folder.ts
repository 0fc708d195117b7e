import { PGlite } from '@electric-sql/pglite'
import { DurableFiles } from './durable-files.ts'

/** PGlite's start parameters, but with flushes and the sync call that its file system passes on. */
const startParameters = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
]

/** Opens the PGlite in a folder, with the files that flush for it. */
export async function openFolder(folder: string): Promise<{ pglite: PGlite; files: DurableFiles }> {
  const files = new DurableFiles(folder)
  return { pglite: await PGlite.create({ fs: files, startParams: startParameters }), files }
}
