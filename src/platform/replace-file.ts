import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Writes a file as a whole: readers see the old content or the new one, also after a kill, a full disk or a power failure. Two
 * processes must not write the same file at once.
 */
export function replaceFile(file: string, text: string, mode = 0o666): void {
  const next = `${file}.new`
  try {
    writeFileSync(next, text, { mode, flush: true })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  flushFolder(path.dirname(file))
}

/** Without it, a power failure can undo the renaming. Windows and some network file systems cannot flush folders. */
function flushFolder(folder: string): void {
  let descriptor: number | undefined
  try {
    descriptor = openSync(folder, 'r')
    fsyncSync(descriptor)
  } catch {
    // The file is complete all the same.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
