import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'

/** Keep the memory of this short-lived process small. */
const flags = ['--liftoff-only', '--max-semi-space-size=1', '--max-old-space-size=64']

const Failure = z.object({ message: z.string(), code: z.string().optional() })

/** Whether a folder holds the files of PostgreSQL, which it calls a cluster. */
export function hasCluster(folder: string): boolean {
  return existsSync(path.join(folder, 'PG_VERSION'))
}

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
  if (exitCode !== 0)
    throw new Error(`the embedded database could not be created: its process ended with ${signal ?? exitCode}`)
}
