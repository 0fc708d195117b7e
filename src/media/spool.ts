import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { arrivedTooLate, invalidField, ServiceError } from '../../contracts/errors.ts'
import { codeOf } from '../platform/error-code.ts'
import { createOwnedFolder } from '../platform/files.ts'
import { detectType, headBytes, type SniffedType, sniffType } from './detect-type.ts'
import { type StoredFile, StoreUnavailableError } from './object-store.ts'
import { kindOfType, maxBytesOf, toMegabytes } from './types.ts'

/** A file that was received completely and may be stored. */
export interface SpooledFile extends StoredFile {
  open(): Readable
  /** Removes the file if it has not been moved. */
  discard(): Promise<void>
}

export interface SpoolLimits {
  spoolDir: string
  /** Maximum time between two chunks of an incoming file. */
  stallMilliseconds?: number
}

/** What is wrong with a file, in terms of where it comes from. */
export interface SpoolProblems {
  empty(): ServiceError
  late(reason: string): ServiceError
}

const uploadProblems: SpoolProblems = {
  empty: () => invalidField('file', 'must not be empty.'),
  late: (reason) => arrivedTooLate('The file', reason),
}

export const defaultStallMilliseconds = 20_000
/** 100 MB at 3 Mbit/s. */
const deadlineMilliseconds = 5 * 60_000

/**
 * Writes a file to disk as it arrives, hashes it and determines its type, and never holds more than a part of it in
 * memory. If anything fails, nothing is left on disk. The name of the file is random.
 */
export async function spool(
  source: Readable,
  { spoolDir, stallMilliseconds = defaultStallMilliseconds }: SpoolLimits,
  problems: SpoolProblems = uploadProblems,
): Promise<SpooledFile> {
  const file = path.join(spoolDir, randomUUID())
  const inspector = new Inspector()
  const stalled = setTimeout(() => source.destroy(problems.late('its sender stalled')), stallMilliseconds)
  const late = setTimeout(() => source.destroy(problems.late('it took 5 minutes')), deadlineMilliseconds)
  inspector.on('chunk', () => stalled.refresh())
  try {
    await createOwnedFolder(spoolDir)
    await pipeline(source, inspector, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
    if (inspector.size === 0) throw problems.empty()
    return { path: file, ...(await inspect(file, inspector)), open: () => createReadStream(file), discard }
  } catch (error) {
    source.destroy()
    await discard()
    throw isDiskError(error) ? new StoreUnavailableError(error) : error
  } finally {
    clearTimeout(stalled)
    clearTimeout(late)
  }

  function discard(): Promise<void> {
    return rm(file, { force: true })
  }
}

/** A full disk, or a folder that cannot be written to. */
const diskCodes = new Set(['EACCES', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOENT', 'ENOSPC', 'EPERM', 'EROFS'])

function isDiskError(error: unknown): boolean {
  return diskCodes.has(codeOf(error) ?? '')
}

async function inspect(file: string, inspector: Inspector): Promise<{ size: number; sha256: string; type: string }> {
  const { size, sniffed } = inspector
  const handle = await open(file, 'r')
  try {
    const type = sniffed && (await detectType(sniffed, handle, size))
    if (type === undefined) throw wrongType()
    return { size, sha256: inspector.digest(), type }
  } finally {
    await handle.close()
  }
}

/** Passes a file through, and rejects it as soon as it turns out to be too large or of a wrong type. */
class Inspector extends Transform {
  size = 0
  sniffed: SniffedType | undefined
  readonly #hash = createHash('sha256')
  #head: Buffer = Buffer.alloc(0)
  #maxBytes = 0

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.emit('chunk')
    this.size += chunk.length
    this.#hash.update(chunk)
    if (this.#head.length < headBytes) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, headBytes - this.#head.length)])
      if (this.#head.length === headBytes) this.#decide()
    }
    if (this.#maxBytes > 0 && this.size > this.#maxBytes) return done(tooLarge(this.sniffed, this.#maxBytes))
    return this.#head.length === headBytes && !this.sniffed ? done(wrongType()) : done(null, chunk)
  }

  override _flush(done: TransformCallback): void {
    this.#decide()
    done()
  }

  digest(): string {
    return this.#hash.digest('hex')
  }

  #decide(): void {
    this.sniffed ??= sniffType(this.#head)
    this.#maxBytes = maxBytesOf(this.sniffed && 'type' in this.sniffed ? this.sniffed.type : '')
  }
}

function wrongType(): ServiceError {
  return new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The file is of no type that a template can show. Upload a JPEG or PNG image, an MP4 or 3GPP video, a PDF, an Office document or plain text.',
  )
}

function tooLarge(sniffed: SniffedType | undefined, maxBytes: number): ServiceError {
  const kind = kindOfType(sniffed && 'type' in sniffed ? sniffed.type : '')
  return new ServiceError(
    'PAYLOAD_TOO_LARGE',
    `The file is larger than ${toMegabytes(maxBytes)} MB, which is the most that WhatsApp takes of ${kind === 'image' ? 'an' : 'a'} ${kind}.`,
  )
}

/** Longer than any upload takes. */
const leftoverMilliseconds = 60 * 60_000

/** Removes files that a stopped process left behind. */
export async function removeLeftovers(spoolDir: string, now: Date): Promise<void> {
  const names = await readdir(spoolDir).catch(() => [])
  for (const name of names) {
    const file = path.join(spoolDir, name)
    const facts = await stat(file).catch(() => undefined)
    if (facts && now.getTime() - facts.mtimeMs > leftoverMilliseconds) await rm(file, { force: true })
  }
}
