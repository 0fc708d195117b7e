import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * The messages that a dead process had marked as written in its send journal. Read from the file as it is, apart from
 * the code that replays it.
 */
export async function readMarked(folder: string, pid: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const journals = await Promise.all(
    // Another process may replay and remove a journal meanwhile.
    names
      .filter((name) => name.endsWith('.journal'))
      .map((name) => readFile(path.join(folder, name), 'latin1').catch(() => '')),
  )
  const own = journals.find((text) => text.startsWith('{') && text.includes(`"pid":${pid}}\n`)) ?? ''
  return [...own.matchAll(/^W (msg_\w+)\n/gm)].map(([, id = '']) => id)
}
