import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import path from 'node:path'

const memory = '/dev/shm'
/** The databases of all workers take about a gigabyte. Containers often have 64 MB there. */
const minFreeBytes = 4 * 1024 ** 3

/**
 * Keeps the temporary files of this process and its workers in memory if there is enough of it: creating a
 * database writes hundreds of files, and a test flushes them all the time. They are removed at the end.
 */
export default function useMemoryDisk(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < minFreeBytes) return
  // Short, because the paths of sockets have at most 107 characters.
  const folder = mkdtempSync(path.join(memory, 'wb-'))
  // PostgreSQL runs as another user when the tests run as root.
  chmodSync(folder, 0o755)
  process.env['TMPDIR'] = folder
  // After the databases of all projects have stopped.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}
