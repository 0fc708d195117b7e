/**
 * Mutants that no test can notice, because they behave the same (2026-11-22). A test of speed would notice some of them,
 * and be flaky.
 */
export interface Equivalent {
  file: string
  /** The start of what is replaced, and the whole of its replacement, as the run prints them. */
  original: string
  replacement: string
  why: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/webhooks/delivery/sign.ts',
    original: 'known',
    replacement: 'false',
    why: 'without its cache, the signer is slower',
  },
  {
    file: 'src/webhooks/delivery/sign.ts',
    original: 'keys.set(secret, key)',
    replacement: ';',
    why: 'without its cache, the signer is slower',
  },
  {
    file: 'src/messages/send/idempotency.ts',
    original: 'a < b',
    replacement: 'a <= b',
    why: 'the names of the fields of an object differ',
  },
  {
    file: 'src/messages/send/idempotency.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'there is no advice for either code',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    original: 'isIPv4(text)',
    replacement: 'false',
    why: 'a shortcut for most addresses',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    original: "':'",
    replacement: '""',
    why: 'an IPv4 address has no network of 64 bits, and so is returned as it is',
  },
  {
    file: 'src/accounts/ip-allow-list.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'a text split at slashes has a first part',
  },
  {
    file: 'src/messages/status/advance.ts',
    original: 'order.indexOf(reported) > order.indexOf(current)',
    replacement: 'order.indexOf(reported) >= order.indexOf(current)',
    why: 'a status that is reported again is the same status',
  },
  {
    file: 'src/messages/status/advance.ts',
    original: 'reported < known',
    replacement: 'reported <= known',
    why: 'of two equal times, either is the earliest',
  },
  {
    file: 'src/webhooks/queue/retry-schedule.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither text is a date',
  },
  {
    file: 'src/platform/ids.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'the first call replaces it',
  },
  {
    file: 'src/platform/ids.ts',
    original: 'now !== milliseconds',
    replacement: 'true',
    why: 'the time is then formatted for each request instead of each millisecond',
  },
  {
    file: 'src/platform/ids.ts',
    original: 'size > poolBytes',
    replacement: 'true',
    why: 'random bytes come without the pool, only slower',
  },
  {
    file: 'src/platform/ids.ts',
    original: 'size > poolBytes',
    replacement: 'size >= poolBytes',
    why: 'random bytes come without the pool, only slower',
  },
  {
    file: 'src/platform/ids.ts',
    original: 'used + size > pool.length',
    replacement: 'true',
    why: 'the pool is filled more often, which is slower',
  },
  {
    file: 'src/platform/ids.ts',
    original: 'used + size > pool.length',
    replacement: 'used + size >= pool.length',
    why: 'the pool is filled one call earlier',
  },
  {
    file: 'src/platform/secrets.ts',
    original: "'utf8'",
    replacement: '""',
    why: 'UTF-8 is the default of ciphers',
  },
  {
    file: 'src/platform/secrets.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither is a key ID, a nonce or a ciphertext',
  },
  {
    file: 'src/http/api/input.ts',
    original: "contentType === 'application/json'",
    replacement: 'false',
    why: 'a shortcut for what most callers write',
  },
  {
    file: 'src/http/api/input.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    why: 'neither is the type of JSON, nor near to a field',
  },
]
