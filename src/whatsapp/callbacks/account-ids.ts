/**
 * Ids are looked for this far from the start and from the end of a body: its envelope, which names them, begins
 * and ends there, whatever the order of its keys is.
 */
const scannedBytesAtStart = 192 * 1024
const scannedBytesAtEnd = 64 * 1024
const maxIds = 100
const maxMatches = 2000

/**
 * The ids that a callback seems to name, in the order in which they come, read without parsing it: its sender
 * is not known yet, and parsing 3 MB can take 200 ms. A text inside the callback cannot add an id, since JSON
 * escapes its quotes.
 */
export function scanIds(body: Buffer): string[] {
  const ids = new Set<string>()
  let matches = 0
  for (const text of endsOf(body))
    // A message's own id starts with letters, so it is no match. Numbers are of bounded length: no backtracking.
    for (const [, id] of text.matchAll(/"(?:phone_number_)?id":\s{0,8}"?(\d{1,32})\b/g)) {
      if (id !== undefined) ids.add(id)
      if (ids.size === maxIds || ++matches === maxMatches) return [...ids]
    }
  return [...ids]
}

function endsOf(body: Buffer): string[] {
  if (body.length <= scannedBytesAtStart + scannedBytesAtEnd) return [body.toString('latin1')]
  return [body.toString('latin1', 0, scannedBytesAtStart), body.toString('latin1', body.length - scannedBytesAtEnd)]
}
