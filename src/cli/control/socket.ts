import { randomBytes } from 'node:crypto'
import { lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A Unix socket path holds 108 bytes on Linux and 104 on macOS, including the final NUL. */
const maxPathBytes = 100

export interface ControlSocket {
  path: string
  /** Deletes the socket and its folder, if any. */
  remove(): void
}

/**
 * Chooses the path of the control socket: in the data folder, which is private, or in a private temporary folder if
 * that path is too long.
 */
export function chooseControlSocket(dataDir: string): ControlSocket {
  if (process.platform === 'win32')
    return { path: String.raw`\\.\pipe\waybill-${randomBytes(16).toString('hex')}`, remove: () => {} }
  const inside = path.join(dataDir, 'control.sock')
  if (Buffer.byteLength(inside) <= maxPathBytes) {
    // An existing socket belongs to a dead process, because this process holds the lock.
    rmSync(inside, { force: true })
    return { path: inside, remove: () => rmSync(inside, { force: true }) }
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-'))
  return { path: path.join(folder, 'control.sock'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * Returns whether the owner of the data folder created the socket. A folder under /tmp can be deleted and recreated by
 * another user, and commands send secrets.
 */
export function isTrustworthy(socket: string, dataDir: string): boolean {
  const folder = path.dirname(socket)
  if (process.platform === 'win32' || folder === dataDir) return true
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return (
    found !== undefined && found.isDirectory() && found.uid === lstatSync(dataDir).uid && (found.mode & 0o077) === 0
  )
}
