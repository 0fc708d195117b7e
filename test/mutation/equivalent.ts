/**
 * Mutants that no test can notice, because they behave the same (2026-11-22). A test of speed would notice some of them,
 * and be flaky.
 */
export interface Equivalent {
  file: string
  /** The line that is changed. */
  line: string
  /** The start of what is replaced in it, and the whole of its replacement, as the run prints them. */
  original: string
  replacement: string
  why: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/webhooks/sender/sign.ts',
    line: 'if (known) return known',
    original: 'known',
    replacement: 'false',
    why: 'without its cache, the signer is slower',
  },
  {
    file: 'src/webhooks/sender/sign.ts',
    line: 'keys.set(secret, key)',
    original: 'keys.set(secret, key)',
    replacement: ';',
    why: 'without its cache, the signer is slower',
  },
  {
    file: 'src/messages/send/idempotency.ts',
    line: '.sort(([a], [b]) => (a < b ? -1 : 1))',
    original: 'a < b',
    replacement: 'a <= b',
    why: 'the names of the fields of an object differ',
  },
  {
    file: 'src/messages/send/answers.ts',
    line: "return explainFailure(code ?? '', reason || 'no reason was given')",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'there is no advice for either code',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    line: 'if (isIPv4(text)) return text',
    original: 'isIPv4(text)',
    replacement: 'false',
    why: 'a shortcut for most addresses',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    line: "return plain.includes(':') ? (normalizeAllowListEntry(`${plain}/64`) ?? plain) : plain",
    original: "':'",
    replacement: '""',
    why: 'an IPv4 address has no network of 64 bits, and so is returned as it is',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    line: "const [address = '', prefixText, ...rest] = text.trim().split('/')",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'a text split at slashes has a first part',
  },
  {
    file: 'src/messages/status/advance.ts',
    line: 'return order.indexOf(reported) > order.indexOf(current) ? reported : current',
    original: 'order.indexOf(reported) > order.indexOf(current)',
    replacement: 'order.indexOf(reported) >= order.indexOf(current)',
    why: 'a status that is reported again is the same status',
  },
  {
    file: 'src/messages/status/advance.ts',
    line: 'return reported < known ? reported : known',
    original: 'reported < known',
    replacement: 'reported <= known',
    why: 'of two equal times, either is the earliest',
  },
  {
    file: 'src/webhooks/queue/retry-schedule.ts',
    line: "const from = Date.parse(date ?? '')",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither text is a date',
  },
  {
    file: 'src/platform/ids.ts',
    line: "let [start, milliseconds, count] = ['', 0, 0]",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'the first call replaces it',
  },
  {
    file: 'src/platform/ids.ts',
    line: 'if (now !== milliseconds) {',
    original: 'now !== milliseconds',
    replacement: 'true',
    why: 'the time is then formatted for each request instead of each millisecond',
  },
  {
    file: 'src/platform/ids.ts',
    line: 'if (size > poolBytes) return randomFillSync(Buffer.alloc(size))',
    original: 'size > poolBytes',
    replacement: 'true',
    why: 'random bytes come without the pool, only slower',
  },
  {
    file: 'src/platform/ids.ts',
    line: 'if (size > poolBytes) return randomFillSync(Buffer.alloc(size))',
    original: 'size > poolBytes',
    replacement: 'size >= poolBytes',
    why: 'random bytes come without the pool, only slower',
  },
  {
    file: 'src/platform/ids.ts',
    line: 'if (used + size > pool.length) {',
    original: 'used + size > pool.length',
    replacement: 'true',
    why: 'the pool is filled more often, which is slower',
  },
  {
    file: 'src/platform/ids.ts',
    line: 'if (used + size > pool.length) {',
    original: 'used + size > pool.length',
    replacement: 'used + size >= pool.length',
    why: 'the pool is filled one call earlier',
  },
  {
    file: 'src/platform/secrets.ts',
    line: "const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])",
    original: "'utf8'",
    replacement: '""',
    why: 'UTF-8 is the default of ciphers',
  },
  {
    file: 'src/platform/secrets.ts',
    line: "return decipher.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8')",
    original: "'utf8'",
    replacement: '""',
    why: 'UTF-8 is the default of ciphers',
  },
  {
    file: 'src/platform/secrets.ts',
    line: "const [version, id = '', nonce = '', sealedText = ''] = ciphertext.split('.')",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither is a key ID, a nonce or a ciphertext',
  },
  {
    file: 'src/http/api/input.ts',
    line: "if (contentType === 'application/json') return true",
    original: "contentType === 'application/json'",
    replacement: 'false',
    why: 'a shortcut for what most callers write',
  },
  {
    file: 'src/http/api/input.ts',
    line: "const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither is the type of JSON, nor near to a field',
  },
  {
    file: 'src/http/api/input.ts',
    line: "const near = unknown.length === 1 ? fields.find((field) => isNear(field, unknown[0] ?? '')) : undefined",
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither is the type of JSON, nor near to a field',
  },
  {
    file: 'src/messages/erasure/number.ts',
    line: 'if (replaced === text || isJson(replaced) || !isJson(text)) return replaced',
    original: 'replaced === text',
    replacement: 'false',
    why: 'a shortcut for text without the number',
  },
  {
    file: 'src/messages/erasure/number.ts',
    line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
    original: 'text.length > maxJsonLength',
    replacement: 'text.length >= maxJsonLength',
    why: 'the limit is a round number',
  },
  {
    file: 'src/messages/erasure/number.ts',
    line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
    original: '/^\\s*[[{]/',
    replacement: '/\\s*[[{]/',
    why: 'a shortcut for text that is no JSON',
  },
  {
    file: 'src/messages/erasure/number.ts',
    line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
    original: 'false',
    replacement: 'true',
    why: 'text that is no JSON is returned with its replacements either way',
  },
  {
    file: 'src/templates/fill/variables.ts',
    line: '.flatMap((key) => findValueProblem(variables[key] ?? \'\')?.replace(/^/, `"${key}" `) ?? []),',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'only keys that the variables have are asked for',
  },
  {
    file: 'src/webhooks/alerts/rules/quiet-hours.ts',
    line: 'const drift = modulo(end - minutesAt(guess, timeZone) + dayMinutes / 2) - dayMinutes / 2',
    original: 'end - minutesAt(guess, timeZone) + dayMinutes / 2',
    replacement: 'end - minutesAt(guess, timeZone) - dayMinutes / 2',
    why: 'half a day earlier and later are the same time of day',
  },
  {
    file: 'src/platform/secrets.ts',
    line: "const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {",
    original: '{',
    replacement: '{}',
    why: 'Node 26 refuses short tags by itself; older versions need the option',
  },
  {
    file: 'src/messages/erasure/number.ts',
    line: '} catch {',
    original: '{',
    replacement: '{}',
    why: 'no answer counts as no',
  },
]
