import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { lchown, mkdir, stat } from 'node:fs/promises'
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

/** Creates a folder that only its owner can read, if it does not exist. See `giveToOwnerOf`. */
export async function createOwnedFolder(folder: string): Promise<void> {
  const target = path.resolve(folder)
  const first = await mkdir(target, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const created = [target]
  while (created[0] !== first && created[0] !== undefined) created.unshift(path.dirname(created[0]))
  for (const one of created) await giveToOwnerOf(path.dirname(one), one)
}

/**
 * Gives a file to the owner of a folder, if this process runs as root: an operator's command may do so, and the server that
 * shares its files may not. Does not follow a link in place of the file, with which that owner could get other files.
 */
export async function giveToOwnerOf(folder: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(folder)
  await lchown(file, uid, gid)
}
