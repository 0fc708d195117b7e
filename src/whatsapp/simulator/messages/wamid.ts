/**
 * Has the structure of Meta's IDs: base64 of marker bytes, the recipient's digits in plain text, and 18 hexadecimal
 * digits (decoded from the examples in Meta's documentation; reference, section 1).
 */
export function createWamid(digits: string, random: Uint8Array): string {
  const unique = Buffer.from(random).toString('hex').toUpperCase().slice(0, 18)
  const bytes = Buffer.concat([
    Buffer.from([0x1c, 0x18, digits.length]),
    Buffer.from(digits, 'ascii'),
    Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, unique.length]),
    Buffer.from(unique, 'ascii'),
    Buffer.from([0x00]),
  ])
  return `wamid.${bytes.toString('base64')}`
}
