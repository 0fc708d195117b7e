/**
 * Number of bytes searched for IDs at the start and at the end of a body. The envelope with the IDs starts and ends
 * there, whatever the order of its keys.
 */
const scannedBytesAtStart = 192 * 1024
const scannedBytesAtEnd = 64 * 1024
const maxIds = 100
const maxMatches = 2000

/**
 * Returns the IDs that a callback seems to contain, in order, without parsing it: the sender is not authenticated yet,
 * and parsing 3 MB can take 200 ms. Text inside the callback cannot add an ID, because JSON escapes its quotes.
 */
export function scanIds(body: Buffer): string[] {
  const ids = new Set<string>()
  let matches = 0
  for (const text of startAndEndOf(body))
    // Message IDs start with letters, so they do not match. The bounded repetition limits backtracking.
    for (const [, id] of text.matchAll(/"(?:phone_number_|waba_)?id":\s{0,8}"?(\d{1,32})\b/g)) {
      if (id !== undefined) ids.add(id)
      if (ids.size === maxIds || ++matches === maxMatches) return [...ids]
    }
  return [...ids]
}

function startAndEndOf(body: Buffer): string[] {
  if (body.length <= scannedBytesAtStart + scannedBytesAtEnd) return [body.toString('latin1')]
  return [body.toString('latin1', 0, scannedBytesAtStart), body.toString('latin1', body.length - scannedBytesAtEnd)]
}
