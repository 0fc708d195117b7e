import type { FileHandle } from 'node:fs/promises'

/** End of central directory: 22 bytes and a comment (APPNOTE 6.3.10, 4.3.16). */
const endSignature = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const endBytes = 22
const maxCommentBytes = 0xffff
const entrySignature = 0x02014b50
const entryBytes = 46
/** Documents have a few hundred parts; the names of a million would fill the memory. */
const maxDirectoryBytes = 1024 * 1024

/**
 * Lists the names in the directory of a ZIP file; undefined if it has none. Nothing is decompressed, so a ZIP bomb does
 * no harm.
 */
export async function listZipNames(file: FileHandle, size: number): Promise<string[] | undefined> {
  const tail = await readAt(file, Math.max(0, size - endBytes - maxCommentBytes), size)
  const end = tail.lastIndexOf(endSignature)
  if (end === -1 || end + endBytes > tail.length) return undefined
  const length = tail.readUInt32LE(end + 12)
  const start = tail.readUInt32LE(end + 16)
  if (length > maxDirectoryBytes || start + length > size) return undefined
  return readNames(await readAt(file, start, start + length))
}

function readNames(directory: Buffer): string[] | undefined {
  const names: string[] = []
  let at = 0
  while (at < directory.length) {
    if (at + entryBytes > directory.length || directory.readUInt32LE(at) !== entrySignature) return undefined
    const nameBytes = directory.readUInt16LE(at + 28)
    const otherBytes = directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    names.push(directory.toString('utf8', at + entryBytes, at + entryBytes + nameBytes))
    at += entryBytes + nameBytes + otherBytes
  }
  return names
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(to - from)
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  return buffer.subarray(0, bytesRead)
}
