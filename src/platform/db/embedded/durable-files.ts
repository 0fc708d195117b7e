import fs from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { hasCluster } from './cluster.ts'

type Init = NodeFS['init']
type Module = Parameters<NonNullable<NonNullable<Parameters<Init>[1]['preRun']>[number]>>[0]

/** The part of Emscripten's NODEFS stream that is used here. */
interface Stream {
  nfd: number
  node: Node
  shared: { refcount: number }
}

interface Node {
  name: string
  mode: number
  parent: Node
}

type Operations = Record<string, (...args: never[]) => unknown>

/** Typed here because the published Emscripten types lack `nfd` and `fsync`. */
interface NodeFileSystem {
  stream_ops: Operations & {
    write(stream: Stream, ...rest: unknown[]): number
    close(stream: Stream): void
    setattr(stream: Stream, attributes: object): void
  }
  node_ops: Operations & {
    setattr(node: Node, attributes: object): void
    mknod(folder: Node, name: string, ...rest: unknown[]): Node
    rename(node: Node, folder: Node, name: string): void
    unlink(folder: Node, name: string): void
    rmdir(folder: Node, name: string): void
  }
}

const fdatasync = promisify(fs.fdatasync)

/**
 * Makes the files of the embedded PostgreSQL durable. PGlite starts PostgreSQL with `-F`, and its file system has no
 * `fsync`, so by default nothing is ever flushed.
 *
 * Flushing the write-ahead log does not block: PostgreSQL continues at once, statements that end together share one
 * flush, and `flushed` resolves when it is done. PostgreSQL assumes that the log is on disk as soon as it has requested
 * a flush, so every operation that relies on it (a change of another file or of a name) waits for the flush. These
 * operations are rare and flush synchronously.
 */
export class DurableFiles extends NodeFS {
  /**
   * Files and folders changed since their last flush. After a crash PostgreSQL flushes every file one by one; files
   * that are not in this set are already flushed and are skipped.
   */
  readonly #changed = new Set<string>()
  /** Log files that PostgreSQL has requested to flush and that are not flushed yet. */
  readonly #unflushed = new Set<number>()
  readonly #inFlight = new Set<number>()
  readonly #closeAfterFlush = new Set<number>()
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** After a failed flush, the state on disk is unknown, and PostgreSQL terminates in that case too. */
  #failure: Error | undefined

  override async init(...[pg, options]: Parameters<Init>): ReturnType<Init> {
    if (!this.#isNew && !wasShutDown(this.rootDir)) await flushFolder(this.rootDir)
    const instrument = (module: Module) => this.#instrument(module.NODEFS as NodeFileSystem)
    // Instruments the file system before the folder is mounted, because mounting copies the operations to its root.
    return super.init(pg, { ...options, preRun: [...(options.preRun ?? []), instrument] })
  }

  /** PGlite calls this after it has written a new database to the folder. */
  override async syncToFs(): Promise<void> {
    if (!this.#isNew) return
    this.#isNew = false
    await flushFolder(this.rootDir)
    await flushEntry(path.dirname(this.rootDir))
  }

  #isNew = !hasCluster(this.rootDir)

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Resolves when everything that PostgreSQL has asked to flush so far is on disk. */
  flushed(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#unflushed.size === 0) return this.#current ?? Promise.resolve()
    return (this.#next ??= (this.#current ?? Promise.resolve()).then(() => this.#flush()))
  }

  async #flush(): Promise<void> {
    this.#current = this.#next
    this.#next = undefined
    const files = [...this.#unflushed]
    this.#unflushed.clear()
    for (const file of files) this.#inFlight.add(file)
    try {
      await Promise.all(files.map((file) => fdatasync(file)))
    } catch (error) {
      throw this.#fail(error)
    } finally {
      this.#inFlight.clear()
      for (const file of this.#closeAfterFlush) fs.closeSync(file)
      this.#closeAfterFlush.clear()
      this.#current = undefined
    }
    if (this.#failure) throw this.#failure
  }

  #flushNow(): void {
    if (this.#unflushed.size === 0 && this.#inFlight.size === 0) return
    try {
      for (const file of new Set([...this.#unflushed, ...this.#inFlight])) fs.fdatasyncSync(file)
      this.#unflushed.clear()
    } catch (error) {
      throw this.#fail(error)
    }
  }

  #fail(cause: unknown): Error {
    // PostgreSQL's error code for an I/O error (58030).
    this.#failure ??= Object.assign(new Error('the database could not be flushed to disk', { cause }), {
      code: '58030',
    })
    return this.#failure
  }

  #instrument(files: NodeFileSystem): void {
    const { stream_ops: streams, node_ops: nodes } = files
    files.stream_ops = {
      ...streams,
      write: (stream, ...rest) => {
        if (!isLog(stream.node)) this.#change(pathOf(stream.node))
        return streams.write(stream, ...rest)
      },
      setattr: (stream, attributes) => {
        this.#change(pathOf(stream.node))
        streams.setattr(stream, attributes)
      },
      fsync: (stream: Stream) => this.#fsync(stream),
      close: (stream) => this.#close(stream, streams.close),
    }
    files.node_ops = {
      ...nodes,
      setattr: (node, attributes) => {
        this.#change(pathOf(node))
        nodes.setattr(node, attributes)
      },
      mknod: (folder, name, ...rest) => {
        this.#change(pathOf(folder), path.join(pathOf(folder), name))
        return nodes.mknod(folder, name, ...rest)
      },
      rename: (node, folder, name) => {
        this.#change(pathOf(node.parent), pathOf(folder), path.join(pathOf(folder), name))
        nodes.rename(node, folder, name)
      },
      unlink: (folder, name) => {
        this.#change(pathOf(folder))
        nodes.unlink(folder, name)
      },
      rmdir: (folder, name) => {
        this.#change(pathOf(folder))
        nodes.rmdir(folder, name)
      },
    }
  }

  /** Runs before a change that relies on data that PostgreSQL considers flushed. */
  #change(...paths: string[]): void {
    this.#flushNow()
    for (const changed of paths) this.#changed.add(changed)
  }

  #fsync({ node, nfd }: Stream): number {
    if (isLog(node)) {
      this.#unflushed.add(nfd)
      return 0
    }
    this.#flushNow()
    const name = pathOf(node)
    if (!this.#changed.has(name)) return 0
    flushOther(node, nfd)
    this.#changed.delete(name)
    return 0
  }

  #close(stream: Stream, close: (stream: Stream) => void): void {
    const { nfd, shared } = stream
    if (shared.refcount > 1 || !isLog(stream.node)) return close(stream)
    if (this.#unflushed.has(nfd)) this.#flushNow()
    // The file descriptor must not be reused for another file during a flush.
    if (this.#inFlight.has(nfd)) this.#closeAfterFlush.add(nfd)
    else close(stream)
  }
}

const logFileName = /^[0-9A-F]{24}$/

function isLog({ name, parent }: Node): boolean {
  return parent.name === 'pg_wal' && logFileName.test(name)
}

/** Path within the database folder. */
function pathOf(node: Node): string {
  const names: string[] = []
  for (let at = node; at.parent !== at; at = at.parent) names.unshift(at.name)
  return names.join(path.sep)
}

/** Reads the state in PostgreSQL's control file: 1 means a clean shutdown, after which everything is flushed. */
function wasShutDown(folder: string): boolean {
  const stateOffset = 16
  return fs.readFileSync(path.join(folder, 'global', 'pg_control')).readInt32LE(stateOffset) === 1
}

/** Windows cannot flush folders, and does not need to. */
function flushOther({ mode }: Node, file: number): void {
  try {
    fs.fsyncSync(file)
  } catch (error) {
    if (process.platform !== 'win32' || (mode & fs.constants.S_IFMT) !== fs.constants.S_IFDIR) throw error
  }
}

/** Flushes all files concurrently, so that they share writes of the file system's journal. */
async function flushFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  await Promise.all(
    entries.map((entry) => {
      const name = path.join(folder, entry.name)
      return entry.isDirectory() ? flushFolder(name) : flushEntry(name)
    }),
  )
  await flushEntry(folder)
}

async function flushEntry(name: string): Promise<void> {
  const isFolder = fs.statSync(name).isDirectory()
  if (isFolder && process.platform === 'win32') return
  const file = await fs.promises.open(name, isFolder ? 'r' : 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
