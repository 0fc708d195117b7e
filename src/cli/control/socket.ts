import { randomBytes } from 'node:crypto'
import { lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A Unix socket's address holds 108 bytes on Linux, 104 on macOS, with the closing NUL. */
const maxPathBytes = 100

export interface SocketPlace {
  path: string
  /** Takes away what is left of it. */
  remove(): void
}

/**
 * Where a server takes commands: in the data folder, which is private, or, when that path is too long
 * for a socket, in a private folder of its own.
 */
export function chooseSocketPlace(dataDir: string): SocketPlace {
  if (process.platform === 'win32')
    return { path: String.raw`\\.\pipe\waybill-${randomBytes(16).toString('hex')}`, remove: () => {} }
  const inside = path.join(dataDir, 'control.sock')
  if (Buffer.byteLength(inside) <= maxPathBytes) {
    // Whoever left it there is dead: we have the lock.
    rmSync(inside, { force: true })
    return { path: inside, remove: () => rmSync(inside, { force: true }) }
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-'))
  return { path: path.join(folder, 'control.sock'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * Whether the owner of the data folder put it there. A folder under /tmp can vanish and be made again
 * by somebody else, and we are about to send secrets.
 */
export function isTrustworthy(socket: string, dataDir: string): boolean {
  const folder = path.dirname(socket)
  if (process.platform === 'win32' || folder === dataDir) return true
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return (
    found !== undefined && found.isDirectory() && found.uid === lstatSync(dataDir).uid && (found.mode & 0o077) === 0
  )
}
