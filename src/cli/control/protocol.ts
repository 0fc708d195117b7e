import { randomBytes } from 'node:crypto'
import { lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'

// A command and a running server exchange JSON lines over the control socket. They hold secrets and must never be logged.

/** The first line of a client. */
export const Request = z.object({ argv: z.array(z.string()) })
export type Request = z.infer<typeof Request>

/** A further line for each question; without an answer if there is nobody to ask. */
export const Answer = z.object({ answer: z.string().optional() })
export type Answer = z.infer<typeof Answer>

const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({
      json: z.json(),
      text: z.string(),
      exitCode: z.int().optional(),
      isPrinted: z.boolean().optional(),
      ifLost: z.string().optional(),
      /** Only a server of an earlier version asks in its result. */
      question: z.unknown().optional(),
    }),
  }),
  z.object({ ok: z.literal(false), failure: z.object({ error: z.string(), exitCode: z.int() }) }),
])
export type ControlReply = z.infer<typeof ControlReply>

/** The result comes last. */
export const FromServer = z.union([
  z.object({ progress: z.string() }),
  /** Lines for standard output. */
  z.object({ output: z.string() }),
  z.object({
    question: z.object({
      text: z.string(),
      isSecret: z.boolean().optional(),
      preset: z.string().optional(),
      isOptional: z.boolean().optional(),
    }),
  }),
  ControlReply,
])
export type FromServer = z.infer<typeof FromServer>

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
