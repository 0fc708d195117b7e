import { gzipSync } from 'node:zlib'

export interface TarFile {
  /** At most 100 bytes. */
  path: string
  content: Buffer
}

const blockBytes = 512

/** Creates a .tar.gz archive (POSIX ustar). The same files always give the same bytes, so that its hash identifies it. */
export function createTarball(files: readonly TarFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const blocks = sorted.flatMap((file) => [
    writeHeader(file),
    file.content,
    Buffer.alloc(-file.content.length & (blockBytes - 1)),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 })
}

function writeHeader({ path, content }: TarFile): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`the path ${path} is too long for an archive`)
  const header = Buffer.alloc(blockBytes)
  const writeOctal = (value: number, offset: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), offset)
  header.write(path)
  writeOctal(0o644, 100, 8)
  writeOctal(0, 108, 8)
  writeOctal(0, 116, 8)
  writeOctal(content.length, 124, 12)
  writeOctal(0, 136, 12)
  // The checksum is the sum of all bytes, with spaces in its own place.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
