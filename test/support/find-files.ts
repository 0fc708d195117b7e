import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** Finds the files below a folder that contain a text, as paths relative to the folder. */
export async function findFilesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    if ((await readIfExists(file)).includes(text)) found.push(path.relative(folder, file))
  }
  return found
}

/** A database that runs replaces and deletes files between the listing and the reading. */
async function readIfExists(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  })
}
