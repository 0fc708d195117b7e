import { varying } from './example.ts'
import type { RepeatedRequest } from './target.ts'
import { writeRequest } from './write-request.ts'

/** Returns the same bytes each time except for the digits, which are replaced in place. */
export function repeatRequest({ url, path, headers, body }: RepeatedRequest): () => Buffer {
  const request = writeRequest({ url, path, headers, body })
  const places = findVarying(request)
  return () => {
    writeNextNumber(request, places)
    return request
  }
}

function findVarying(request: Buffer): number[] {
  const places: number[] = []
  for (let at = request.indexOf(varying); at !== -1; at = request.indexOf(varying, at + 1)) places.push(at)
  return places
}

const numbers = 10 ** varying.length
/** Shares no factor with `numbers`, so that every number appears once, in no obvious order, before any repeats. */
const step = 7_368_787
let number = Date.now() % numbers

function writeNextNumber(request: Buffer, places: number[]): void {
  number = (number + step) % numbers
  for (let index = varying.length - 1, rest = number; index >= 0; index--, rest = Math.trunc(rest / 10))
    for (const place of places) request[place + index] = 48 + (rest % 10)
}
