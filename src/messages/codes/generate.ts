/** Digits, each of them equally likely. */
export function generateCode(length: number, randomBytes: (size: number) => Uint8Array): string {
  let code = ''
  while (code.length < length)
    // The largest multiple of ten that a byte can hold is 250; the rest would make small digits more likely.
    for (const byte of randomBytes(length)) if (byte < 250 && code.length < length) code += byte % 10
  return code
}
