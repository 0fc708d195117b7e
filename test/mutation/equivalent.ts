/**
 * Mutants that no test can notice, because they behave the same (2026-11-22). A test of speed would notice some of them,
 * and be flaky. A mutation run names the entries whose line has changed since.
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

interface EquivalentChanges extends Pick<Equivalent, 'line' | 'why'> {
  changes: readonly (readonly [original: string, replacement: string])[]
}

/** Statements with these names, each on a line of its own. */
function unnamed(...names: string[]): EquivalentChanges[] {
  return names.map((name) => ({
    line: `'${name}',`,
    changes: [[`'${name}'`, '""']],
    why: 'a statement without a name is prepared for each call, which is slower',
  }))
}

const changesByFile: Record<string, readonly EquivalentChanges[]> = {
  'src/webhooks/sender/sign.ts': [
    { line: 'if (known) return known', changes: [['known', 'false']], why: 'without its cache, the signer is slower' },
    {
      line: 'keys.set(secret, key)',
      changes: [['keys.set(secret, key)', ';']],
      why: 'without its cache, the signer is slower',
    },
  ],
  'src/messages/send/idempotency.ts': [
    {
      line: '.sort(([a], [b]) => (a < b ? -1 : 1))',
      changes: [['a < b', 'a <= b']],
      why: 'the names of the fields of an object differ',
    },
  ],
  'src/messages/send/responses.ts': [
    {
      line: "return explainFailure(code ?? '', reason || 'no reason was given')",
      changes: [["''", '"Stryker was here!"']],
      why: 'there is no advice for either code',
    },
  ],
  'src/accounts/ip-allow-list.ts': [
    {
      line: 'if (isIPv4(text)) return text',
      changes: [['isIPv4(text)', 'false']],
      why: 'a shortcut for most addresses',
    },
    {
      line: "return plain.includes(':') ? (normalizeAllowListEntry(`${plain}/64`) ?? plain) : plain",
      changes: [["':'", '""']],
      why: 'an IPv4 address has no network of 64 bits, and so is returned as it is',
    },
    {
      line: "const [address = '', prefixText, ...rest] = text.trim().split('/')",
      changes: [["''", '"Stryker was here!"']],
      why: 'a text split at slashes has a first part',
    },
  ],
  'src/messages/status/advance.ts': [
    {
      line: 'return order.indexOf(reported) > order.indexOf(current) ? reported : current',
      changes: [
        ['order.indexOf(reported) > order.indexOf(current)', 'order.indexOf(reported) >= order.indexOf(current)'],
      ],
      why: 'a status that is reported again is the same status',
    },
    {
      line: 'return reported < known ? reported : known',
      changes: [['reported < known', 'reported <= known']],
      why: 'of two equal times, either is the earliest',
    },
  ],
  'src/platform/retry-after.ts': [
    {
      line: "const from = Date.parse(date ?? '')",
      changes: [["''", '"Stryker was here!"']],
      why: 'neither text is a date',
    },
  ],
  'src/platform/ids.ts': [
    {
      line: "let [start, milliseconds, count] = ['', 0, 0]",
      changes: [["''", '"Stryker was here!"']],
      why: 'the first call replaces it',
    },
    {
      line: 'if (now !== milliseconds) {',
      changes: [['now !== milliseconds', 'true']],
      why: 'the time is then formatted for each request instead of each millisecond',
    },
    {
      line: 'if (size > poolBytes) return randomFillSync(Buffer.alloc(size))',
      changes: [
        ['size > poolBytes', 'true'],
        ['size > poolBytes', 'size >= poolBytes'],
      ],
      why: 'random bytes come without the pool, only slower',
    },
    {
      line: 'if (used + size > pool.length) {',
      changes: [['used + size > pool.length', 'true']],
      why: 'the pool is filled more often, which is slower',
    },
    {
      line: 'if (used + size > pool.length) {',
      changes: [['used + size > pool.length', 'used + size >= pool.length']],
      why: 'the pool is filled one call earlier',
    },
  ],
  'src/platform/secrets.ts': [
    {
      line: "const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])",
      changes: [["'utf8'", '""']],
      why: 'UTF-8 is the default of ciphers',
    },
    {
      line: "return decipher.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8')",
      changes: [["'utf8'", '""']],
      why: 'UTF-8 is the default of ciphers',
    },
    {
      line: "const [version, id = '', nonce = '', sealedText = ''] = ciphertext.split('.')",
      changes: [["''", '"Stryker was here!"']],
      why: 'neither is a key ID, a nonce or a ciphertext',
    },
    {
      line: "const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {",
      changes: [['{', '{}']],
      why: 'Node 26 refuses short tags by itself; older versions need the option',
    },
  ],
  'src/http/api/input.ts': [
    {
      line: "if (contentType === 'application/json') return true",
      changes: [["contentType === 'application/json'", 'false']],
      why: 'a shortcut for what most callers write',
    },
    {
      line: "const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())",
      changes: [["''", '"Stryker was here!"']],
      why: 'neither is the type of JSON, nor similar to a field',
    },
    {
      line: "const suggestion = unknown.length === 1 ? fields.find((field) => isSimilar(field, unknown[0] ?? '')) : undefined",
      changes: [["''", '"Stryker was here!"']],
      why: 'neither is the type of JSON, nor similar to a field',
    },
  ],
  'src/messages/erasure/number.ts': [
    {
      line: 'if (replaced === text || isJson(replaced) || !isJson(text)) return replaced',
      changes: [['replaced === text', 'false']],
      why: 'a shortcut for text without the number',
    },
    {
      line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
      changes: [['text.length > maxJsonLength', 'text.length >= maxJsonLength']],
      why: 'the limit is a round number',
    },
    {
      line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
      changes: [['/^\\s*[[{]/', '/\\s*[[{]/']],
      why: 'a shortcut for text that is no JSON',
    },
    {
      line: 'if (text.length > maxJsonLength || !/^\\s*[[{]/.test(text)) return false',
      changes: [['false', 'true']],
      why: 'text that is no JSON is returned with its replacements either way',
    },
    { line: '} catch {', changes: [['{', '{}']], why: 'no answer counts as no' },
  ],
  'src/templates/fill/variables.ts': [
    {
      line: "const problem = findValueProblem(variables[key] ?? '')",
      changes: [["''", '"Stryker was here!"']],
      why: 'only keys that the variables have are asked for',
    },
  ],
  'src/webhooks/alerts/rules/quiet-hours.ts': [
    {
      line: 'const drift = modulo(end - minutesAt(guess, timeZone) + dayMinutes / 2) - dayMinutes / 2',
      changes: [
        ['end - minutesAt(guess, timeZone) + dayMinutes / 2', 'end - minutesAt(guess, timeZone) - dayMinutes / 2'],
      ],
      why: 'half a day earlier and later are the same time of day',
    },
  ],
  'src/templates/sync-store.ts': [
    {
      line: ".where('status', '<>', 'DELETED')",
      changes: [["'DELETED'", '""']],
      why: 'a template that is marked as deleted is then marked again',
    },
  ],
  'src/messages/send/settle-store.ts': [
    ...unnamed('settle_accepted', 'settle_many_accepted', 'fail_unwritten'),
    {
      line: 'const accepted = sorted.map(({ message, waMessageId, at }) => ({ ...message, waMessageId, sentAt: at }))',
      changes: [['{ ...message, waMessageId, sentAt: at }', '{}']],
      why: 'the batch fails and is settled message by message, which is slower',
    },
    {
      line: 'const sorted = acceptances.toSorted((a, b) => (keyOf(a.message) < keyOf(b.message) ? -1 : 1))',
      changes: [['keyOf(a.message) < keyOf(b.message)', 'keyOf(a.message) <= keyOf(b.message)']],
      why: 'no two messages have the same ID',
    },
  ],
  'src/messages/status/stale-pending.ts': [
    {
      line: 'return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 }',
      changes: [
        ['rows[0]?.count', 'rows[0].count'],
        ['rows[0]?.oldest_seconds', 'rows[0].oldest_seconds'],
      ],
      why: 'a count without groups gives one row',
    },
    {
      line: 'const { until = since, more = false } = ends[0] ?? {}',
      changes: [['false', 'true']],
      why: 'a subselect without a table gives one row',
    },
  ],
  'src/accounts/authenticate-store.ts': [...unnamed('find_caller', 'find_callers', 'spend_request')],
  'src/messages/status/store.ts': [
    ...unnamed('write_states', 'write_wa_message_ids'),
    {
      line: 'if (firstId === undefined || lastId === undefined) return []',
      changes: [
        ['firstId === undefined || lastId === undefined', 'firstId === undefined && lastId === undefined'],
        ['firstId === undefined', 'false'],
        ['lastId === undefined', 'false'],
      ],
      why: 'both are undefined, or neither is; then the statement finds nothing',
    },
    {
      line: 'if (byWamid.length > 0) return lockByEither(db, { ...listsOf(idColumns, byId), ...listsOf(wamidColumns, byWamid) })',
      changes: [
        ['byWamid.length > 0', 'true'],
        ['byWamid.length > 0', 'byWamid.length >= 0'],
      ],
      why: 'this statement finds messages by their IDs as well, only slower',
    },
    {
      line: 'if (changes.length === 0) return',
      changes: [['changes.length === 0', 'false']],
      why: 'the statement then writes no row',
    },
    {
      line: 'if (findable.length > 0) await writeWaMessageIds(db, listsOf(newWaMessageIdColumns, findable))',
      changes: [
        ['findable.length > 0', 'true'],
        ['findable.length > 0', 'findable.length >= 0'],
      ],
      why: 'the statement then writes no row',
    },
  ],
}

export const equivalents: readonly Equivalent[] = Object.entries(changesByFile).flatMap(([file, lines]) =>
  lines.flatMap(({ line, changes, why }) =>
    changes.map(([original, replacement]) => ({ file, line, original, replacement, why })),
  ),
)
