import { openFiles } from './open-folder.ts'

/** The process that `createCluster` starts: creates the files of PostgreSQL in the folder given as an argument. */
const [, , folder = ''] = process.argv
try {
  const { pglite } = await openFiles(folder)
  await pglite.close()
} catch (error) {
  process.send?.({
    message: error instanceof Error ? error.message : String(error),
    ...(error instanceof Error && 'code' in error && { code: String(error.code) }),
  })
  process.exitCode = 1
}
process.disconnect?.()
