import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Lists the messages that a dead process had marked as written in its send journal. Parses the file on its own instead
 * of using the code that replays it.
 */
export async function readMarked(folder: string, pid: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const journals = await Promise.all(
    // Another process may replay and delete a journal in the meantime.
    names
      .filter((name) => name.endsWith('.journal'))
      .map((name) => readFile(path.join(folder, name), 'latin1').catch(() => '')),
  )
  const own = journals.find((text) => text.startsWith('{') && text.includes(`"pid":${pid}}\n`)) ?? ''
  return [...own.matchAll(/^W (msg_\w+)\n/gm)].map(([, id = '']) => id)
}
