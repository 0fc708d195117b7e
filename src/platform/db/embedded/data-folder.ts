import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { codeOf } from '../../error-code.ts'
import { replaceFile } from '../../files.ts'

const LockHolder = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** The command without its arguments, which can hold secrets. */
  command: z.string(),
  /** The control socket of a server; null if the process has none, or not yet. */
  socket: z.string().nullable(),
})
export type LockHolder = z.infer<typeof LockHolder>

/** A data folder that this process has locked. */
export interface DataFolder {
  dataDir: string
  /** Publishes the control socket, so that other processes can find it. */
  announce(socket: string): void
  release(): void
}

/**
 * Locks a data folder for this process, or returns undefined if another process holds the lock.
 *
 * PGlite assumes exclusive access to its files, so two processes would corrupt them. The lock must be released by the
 * kernel whenever its process dies. Node has no `flock`, but SQLite, which is part of Node, takes such locks on every
 * platform, so the lock is an open exclusive transaction on an empty SQLite file.
 */
export function claimDataFolder(dataDir: string, command: string): DataFolder | undefined {
  createPrivateFolder(dataDir)
  const lock = lockFile(path.join(dataDir, 'lock.db'))
  if (!lock) return undefined
  const holder: LockHolder = { pid: process.pid, startedAt: new Date().toISOString(), command, socket: null }
  writeLockHolder(dataDir, holder)
  return {
    dataDir,
    announce: (socket) => writeLockHolder(dataDir, { ...holder, socket }),
    release: () => {
      rmSync(lockHolderFile(dataDir), { force: true })
      lock.close()
    },
  }
}

/**
 * Reads the description that the lock holder wrote. It is only valid while the lock is held, because a killed process
 * leaves its file behind.
 */
export function readLockHolder(dataDir: string): LockHolder | undefined {
  try {
    return LockHolder.parse(JSON.parse(readFileSync(lockHolderFile(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Creates a folder that only its owner can read, because it holds phone numbers and the secret key. The permissions of
 * a mounted volume may not be changeable; then the operator is responsible for them.
 */
export function createPrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}

export function lockFile(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: 0, defensive: false })
  try {
    // Nothing is ever written, so there is no journal that a killed process could leave behind.
    database.exec('pragma journal_mode = off; begin exclusive')
    return database
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** SQLITE_BUSY; extended codes have it in their low byte: sqlite.org/rescode.html */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5
}

function writeLockHolder(dataDir: string, holder: LockHolder): void {
  replaceFile(lockHolderFile(dataDir), JSON.stringify(holder) + '\n', 0o600)
}

function lockHolderFile(dataDir: string): string {
  return path.join(dataDir, 'owner.json')
}
