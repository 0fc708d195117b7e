import { varying } from './example.ts'
import type { RepeatedRequest } from './target.ts'
import { writeRequest } from './write-request.ts'

/** Returns the same bytes each time except for the digits, which are replaced in place. */
export function repeatRequest({ url, path, headers, body }: RepeatedRequest): () => Buffer {
  const request = writeRequest({ url, path, headers, body })
  const positions = findVarying(request)
  return () => {
    writeNextNumber(request, positions)
    return request
  }
}

function findVarying(request: Buffer): number[] {
  const positions: number[] = []
  for (let at = request.indexOf(varying); at !== -1; at = request.indexOf(varying, at + 1)) positions.push(at)
  return positions
}

const numbers = 10 ** varying.length
/** Shares no factor with `numbers`, so that every number appears once, in no obvious order, before any repeats. */
const step = 7_368_787
let number = Date.now() % numbers

function writeNextNumber(request: Buffer, positions: number[]): void {
  number = (number + step) % numbers
  for (let index = varying.length - 1, rest = number; index >= 0; index--, rest = Math.trunc(rest / 10))
    for (const position of positions) request[position + index] = 48 + (rest % 10)
}
