import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { MemoryFS, type PGlite } from '@electric-sql/pglite'

interface Entry {
  /** Its path in the data folder. */
  name: string
  /** Undefined for a folder. */
  content: Uint8Array | undefined
}

/** The part of Emscripten's file system that is used here. */
interface FileSystem {
  mkdirTree(path: string, mode: number): void
  open(path: string, flags: string, mode: number): { node: { contents: Uint8Array; usedBytes: number } }
  close(stream: object): void
}

/** Where PGlite keeps its data. */
const root = '/pglite/data'

let template: { folder: string; entries: readonly Entry[] } | undefined

/**
 * A copy of a data folder in memory. The folder is read once per worker: PGlite's own `loadDataDir` takes half a second
 * to unpack it for each database.
 */
export class CopyInMemory extends MemoryFS {
  readonly #entries: readonly Entry[]

  constructor(folder: string) {
    super()
    if (template?.folder !== folder) template = { folder, entries: readEntries(folder) }
    this.#entries = template.entries
  }

  /** PGlite calls this before it looks for a database in its data folder. */
  override initialSyncFs(): Promise<void> {
    // The published types lack the fields of a stream.
    const files = (this.pg as PGlite).Module.FS as unknown as FileSystem
    files.mkdirTree(root, 0o700)
    for (const { name, content } of this.#entries) {
      if (!content) {
        files.mkdirTree(`${root}/${name}`, 0o700)
        continue
      }
      const stream = files.open(`${root}/${name}`, 'w', 0o600)
      Object.assign(stream.node, { contents: content.slice(), usedBytes: content.length })
      files.close(stream)
    }
    return Promise.resolve()
  }
}

/** Folders come before what is in them. */
function readEntries(folder: string): Entry[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const full = path.join(entry.parentPath, entry.name)
    return { name: path.relative(folder, full), content: entry.isFile() ? readFileSync(full) : undefined }
  })
  return names.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
