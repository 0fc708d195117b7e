import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'

const LockHolder = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** The words of the command alone: its arguments can hold secrets. */
  command: z.string(),
  /** Where a server takes commands; null in a process that takes none, or not yet. */
  socket: z.string().nullable(),
})
export type LockHolder = z.infer<typeof LockHolder>

/** A data folder while it is this process's own. */
export interface DataFolder {
  dataDir: string
  /** From now on other processes find us at this socket. */
  announce(socket: string): void
  release(): void
}

/**
 * Takes a data folder for this process alone, or returns undefined when another one has it.
 *
 * PGlite reads and writes its files as if nobody else did, so two processes would destroy them. What
 * keeps them apart is a lock that the kernel gives back when its process dies, however it dies. Node
 * has no `flock`; SQLite, which comes with Node, takes such locks on every platform, so an open
 * exclusive transaction on an empty file is our lock.
 */
export function claimDataFolder(dataDir: string, command: string): DataFolder | undefined {
  createPrivateFolder(dataDir)
  const lock = lockFile(path.join(dataDir, 'lock.db'))
  if (!lock) return undefined
  const owner: LockHolder = { pid: process.pid, startedAt: new Date().toISOString(), command, socket: null }
  writeLockHolder(dataDir, owner)
  return {
    dataDir,
    announce: (socket) => writeLockHolder(dataDir, { ...owner, socket }),
    release: () => {
      rmSync(lockHolderFile(dataDir), { force: true })
      lock.close()
    },
  }
}

/**
 * Who has the data folder, as they wrote it themselves. Means something only while the lock is held:
 * a process that was killed leaves its file behind.
 */
export function readLockHolder(dataDir: string): LockHolder | undefined {
  try {
    return LockHolder.parse(JSON.parse(readFileSync(lockHolderFile(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * The folder holds phone numbers and the secret key: nobody else's eyes. A volume that an orchestrator
 * mounts may not be ours to close; then whoever mounts it decides who looks in.
 */
export function createPrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
  }
}

export function lockFile(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: 0, defensive: false })
  try {
    // No journal: nothing is ever written, and a killed owner leaves none behind to be recovered.
    database.exec('pragma journal_mode = off; begin exclusive')
    return database
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** SQLITE_BUSY, whose extended codes have it in their low byte: sqlite.org/rescode.html */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5
}

/** Renamed into place, so that nobody reads half of it. */
function writeLockHolder(dataDir: string, owner: LockHolder): void {
  const file = lockHolderFile(dataDir)
  writeFileSync(`${file}.new`, JSON.stringify(owner) + '\n', { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function lockHolderFile(dataDir: string): string {
  return path.join(dataDir, 'owner.json')
}
