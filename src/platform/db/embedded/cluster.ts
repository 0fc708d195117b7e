import { existsSync } from 'node:fs'
import path from 'node:path'

/** Whether a folder holds the files of PostgreSQL, which it calls a cluster. */
export function hasCluster(folder: string): boolean {
  return existsSync(path.join(folder, 'PG_VERSION'))
}
