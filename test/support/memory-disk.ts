import { existsSync, statfsSync } from 'node:fs'

const folder = '/dev/shm'
/** The databases of all workers take about a gigabyte. Containers often have 64 MB there. */
const minFreeBytes = 4 * 1024 ** 3

/**
 * Keeps the temporary files of this process and its workers in memory if there is enough of it: creating a
 * database writes hundreds of files, and a test flushes them all the time.
 */
export default function useMemoryDisk(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(folder)) return
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= minFreeBytes) process.env['TMPDIR'] = folder
}
