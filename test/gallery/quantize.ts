import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** Red, green and blue, and how many pixels have it. */
interface Colour {
  channels: readonly [number, number, number]
  count: number
}

const maxColours = 256
const bytesPerPixel = 3
const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Stores a screenshot of Chromium (8 bits per channel, no alpha) with 256 colours, which takes two fifths of the bytes. */
export function quantize(png: Buffer): Buffer {
  const { header, pixels } = decode(png)
  const keys = Array.from({ length: pixels.length / bytesPerPixel }, (_, n) => pixels.readUIntBE(n * bytesPerPixel, 3))
  const boxes = cut(countColours(keys))
  const indexes = new Map(boxes.flatMap((box, index) => box.map(({ channels }) => [toKey(channels), index] as const)))
  const width = header.readUInt32BE(0)
  const rows = Array.from({ length: keys.length / width }, (_, y) =>
    Buffer.from([0, ...keys.slice(y * width, (y + 1) * width).map((key) => indexes.get(key) ?? 0)]),
  )
  const indexed = Buffer.from(header)
  indexed[9] = 3
  return Buffer.concat([
    signature,
    chunk('IHDR', indexed),
    chunk('PLTE', Buffer.from(boxes.flatMap(average))),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function decode(png: Buffer): { header: Buffer; pixels: Buffer } {
  const chunks = readChunks(png)
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13)
  // Depth, colour type and interlacing.
  if (header[8] !== 8 || header[9] !== 2 || header[12] !== 0)
    throw new Error('not an RGB picture with 8 bits per channel')
  const data = inflateSync(Buffer.concat(chunks.flatMap((one) => (one.type === 'IDAT' ? one.data : []))))
  return { header, pixels: unfilter(data, header.readUInt32BE(0) * bytesPerPixel) }
}

function readChunks(png: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

/** Each row begins with its filter (PNG specification, 9.2). */
function unfilter(data: Buffer, rowBytes: number): Buffer {
  const height = data.length / (rowBytes + 1)
  const pixels = Buffer.alloc(height * rowBytes)
  for (let at = 0; at < pixels.length; at++) {
    const [y, x] = [Math.floor(at / rowBytes), at % rowBytes]
    const left = x < bytesPerPixel ? 0 : (pixels[at - bytesPerPixel] ?? 0)
    const up = pixels[at - rowBytes] ?? 0
    const upLeft = x < bytesPerPixel ? 0 : (pixels[at - rowBytes - bytesPerPixel] ?? 0)
    const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)][data[y * (rowBytes + 1)] ?? 0] ?? 0
    pixels[at] = (data[y * (rowBytes + 1) + 1 + x] ?? 0) + predicted
  }
  return pixels
}

function paeth(left: number, up: number, upLeft: number): number {
  const [a, b, c] = [Math.abs(up - upLeft), Math.abs(left - upLeft), Math.abs(left + up - 2 * upLeft)]
  if (a <= b && a <= c) return left
  return b <= c ? up : upLeft
}

function countColours(keys: readonly number[]): Colour[] {
  const counts = new Map<number, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].map(([key, count]) => ({ channels: [key >> 16, (key >> 8) & 255, key & 255], count }))
}

/** Median cut: halves the box with the largest error at its widest channel until there are enough boxes. */
function cut(colours: Colour[]): Colour[][] {
  const boxes = [colours]
  while (boxes.length < Math.min(maxColours, colours.length)) {
    const widest = boxes.reduce((a, b) => (errorOf(b) > errorOf(a) ? b : a))
    const { channel } = rangeOf(widest)
    const sorted = widest.toSorted((a, b) => a.channels[channel] - b.channels[channel])
    const mean = average(widest)[channel] ?? 0
    const at = Math.max(
      1,
      sorted.findIndex(({ channels }) => channels[channel] > mean),
    )
    boxes.splice(boxes.indexOf(widest), 1, sorted.slice(0, at), sorted.slice(at))
  }
  return boxes
}

function errorOf(box: readonly Colour[]): number {
  return rangeOf(box).range ** 2 * box.reduce((sum, { count }) => sum + count, 0)
}

function rangeOf(box: readonly Colour[]): { channel: 0 | 1 | 2; range: number } {
  const ranges = ([0, 1, 2] as const).map((channel) => {
    const values = box.map(({ channels }) => channels[channel])
    return { channel, range: Math.max(...values) - Math.min(...values) }
  })
  return ranges.reduce((a, b) => (b.range > a.range ? b : a))
}

function average(box: readonly Colour[]): number[] {
  const total = box.reduce((sum, { count }) => sum + count, 0)
  return [0, 1, 2].map((channel) =>
    Math.round(box.reduce((sum, { channels, count }) => sum + (channels[channel] ?? 0) * count, 0) / total),
  )
}

function toKey([red, green, blue]: Colour['channels']): number {
  return (red << 16) | (green << 8) | blue
}

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
