import { deflateSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { chunk, quantize } from './quantize.ts'

/** A picture of one row, whose filter is `left`. */
function encodeRow(pixels: readonly (readonly [number, number, number])[]): Buffer {
  const bytes = pixels.flatMap((pixel, n) =>
    pixel.map((value, channel) => (value - (pixels[n - 1]?.[channel] ?? 0)) & 255),
  )
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  header.writeUInt32BE(pixels.length)
  const data = deflateSync(Buffer.from([1, ...bytes]))
  return Buffer.concat([Buffer.alloc(8), chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function decodeRow(png: Buffer): number[][] {
  const read = (type: string) => {
    const at = png.indexOf(type)
    return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4))
  }
  const palette = read('PLTE')
  return [...inflateSync(read('IDAT'))].slice(1).map((index) => [...palette.subarray(index * 3, index * 3 + 3)])
}

test('keeps the colours of a picture that has few', () => {
  const row = [
    [255, 0, 0],
    [0, 128, 0],
    [255, 0, 0],
    [1, 2, 3],
  ] as const
  expect(decodeRow(quantize(encodeRow(row)))).toEqual(row)
})

test('replaces similar colours of a picture that has many', () => {
  const row = Array.from({ length: 1000 }, (_, n) => [n >> 2, 100, n & 3] as const)
  const stored = decodeRow(quantize(encodeRow(row)))
  expect(new Set(stored.map(String)).size).toBeLessThanOrEqual(256)
  const distances = row.map((pixel, n) =>
    Math.max(...pixel.map((value, channel) => Math.abs(value - (stored[n]?.[channel] ?? 0)))),
  )
  expect(Math.max(...distances)).toBeLessThanOrEqual(4)
})
