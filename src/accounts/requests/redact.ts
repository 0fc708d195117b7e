import { cut } from '../../platform/text.ts'

/** Fields whose values are shown. Everything else can be a one-time code, a token or a name, and is hidden. */
const shownFields = new Set([
  'to',
  'recipient',
  'recipients',
  'template',
  'language',
  'externalId',
  'accountId',
  'toAccountId',
  'messageId',
  'status',
  'errorCode',
  'from',
  'until',
  'cursor',
  'limit',
  'purpose',
  'reason',
  'name',
  'newName',
  'category',
  'length',
  'expiresInSeconds',
  'maxAttempts',
])
/** Words of a malformed body that are shown: names of our fields, and words of JSON. */
const shownWords = new Set([
  ...shownFields,
  'variables',
  'header',
  'buttons',
  'code',
  'cards',
  'components',
  'index',
  'text',
  'link',
  'type',
  'clientIp',
  'true',
  'false',
  'null',
])
const maxItems = 20
const maxDepth = 8
const maxValueLength = 256
const maxBodyLength = 4_096
const shownKey = /^(?:[A-Za-z_][\w-]{0,63}|\d{1,3})$/

/** The part of a failed request's body that is stored. */
export interface RedactedBody {
  text: string
  /** The caller's own reference, if the body has one. */
  externalId: string | undefined
}

/** How a body wraps the input of a procedure: directly, one per call of a tRPC batch, or as arguments of a tool. */
export type BodyShape = 'input' | 'batch' | 'tool'

/** Redacts the JSON text of a request body. Of malformed JSON, only the punctuation and known words remain. */
export function redactJson(text: string, shape: BodyShape): RedactedBody {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { text: maskWords(text.slice(0, maxBodyLength)), externalId: undefined }
  }
  return redactValue(value, shape)
}

export function redactValue(value: unknown, shape: BodyShape): RedactedBody {
  const redacted = shape === 'tool' ? redactTool(value) : shape === 'batch' ? redactBatch(value) : redactInput(value)
  return {
    text: truncate(scrubSecrets(JSON.stringify(redacted, null, 2) ?? '')),
    externalId: findExternalId(value, shape),
  }
}

/** Hides API keys, bearer tokens and webhook secrets in a text that is shown, by their form. */
export function scrubSecrets(text: string): string {
  return text
    .replaceAll(/\b(wb_live_)[0-9a-f]{4,}/gi, '$1[hidden]')
    .replaceAll(/\b(whsec_)[\w+/=-]{4,}/g, '$1[hidden]')
    .replaceAll(/\b(bearer\s+)\S{4,}/gi, '$1[hidden]')
    .replaceAll(/\bEAA[0-9A-Za-z]{20,}/g, 'EAA[hidden]')
}

/**
 * Error responses quote values and unknown field names, and a caller may have put a one-time code where a name belongs. What
 * the stored `request` shows is not hidden.
 */
export function redactResponse(response: unknown, request = '', maxLength: number = maxBodyLength): string {
  const text = JSON.stringify(response, null, 2) ?? ''
  const redacted = text.replaceAll(/\\"([^"\\]*\d{4}[^"\\]*)\\"/g, (quoted, value: string) =>
    request.includes(`"${value}"`) ? quoted : String.raw`\"[hidden]\"`,
  )
  return truncate(scrubSecrets(redacted), maxLength)
}

function redactInput(input: unknown): unknown {
  if (!isRecord(input)) return hide(input, 0)
  return mapEntries(input, (name, value) => (shownFields.has(name) ? show(value) : hide(value, 1)))
}

function redactBatch(calls: unknown): unknown {
  return isRecord(calls) ? mapEntries(calls, (_, input) => redactInput(input)) : hide(calls, 0)
}

/** A JSON-RPC message of the Model Context Protocol. */
function redactTool(message: unknown): unknown {
  if (!isRecord(message)) return hide(message, 0)
  const { method, params } = message
  const tool = isRecord(params)
    ? { name: show(params['name']), arguments: redactInput(params['arguments']) }
    : undefined
  return { method: show(method), ...(tool && { params: tool }) }
}

/** Shows strings and numbers, and lists of them; hides anything else. */
function show(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, maxValueLength)
  if (typeof value === 'number') return value
  return Array.isArray(value)
    ? limitItems(value.map((item) => (typeof item === 'object' ? hide(item, 1) : show(item))))
    : hide(value, 1)
}

/** Keeps the structure, because most validation errors are about it. */
function hide(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return `[hidden: ${value.length} ${value.length === 1 ? 'character' : 'characters'}]`
  if (typeof value === 'number') return '[hidden: number]'
  if (depth >= maxDepth) return '[hidden]'
  if (Array.isArray(value)) return limitItems(value.slice(0, maxItems + 1).map((item) => hide(item, depth + 1)))
  return isRecord(value) ? mapEntries(value, (_, item) => hide(item, depth + 1)) : value
}

function limitItems(items: unknown[]): unknown[] {
  return items.length > maxItems ? [...items.slice(0, maxItems), '…'] : items
}

function mapEntries(record: Record<string, unknown>, map: (name: string, value: unknown) => unknown): object {
  const entries = Object.entries(record).slice(0, 2 * maxItems)
  return Object.fromEntries(
    entries.map(([name, value], index) => [shownKey.test(name) ? name : `[hidden key ${index}]`, map(name, value)]),
  )
}

function findExternalId(value: unknown, shape: BodyShape): string | undefined {
  if (!isRecord(value)) return undefined
  if (shape === 'tool')
    return isRecord(value['params']) ? findExternalId(value['params']['arguments'], 'input') : undefined
  if (shape === 'batch')
    return Object.values(value)
      .slice(0, maxItems)
      .map((input) => findExternalId(input, 'input'))
      .find((id) => id !== undefined)
  const id = value['externalId']
  return typeof id === 'string' && id !== '' && id.length <= 255 ? scrubSecrets(id) : undefined
}

function maskWords(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}_]+/gu, (word) =>
    shownWords.has(word) ? word : word.replaceAll(/\p{N}/gu, '0').replaceAll(/[^0]/gu, 'x'),
  )
}

function truncate(text: string, maxLength: number = maxBodyLength): string {
  return text.length > maxLength ? `${cut(text, maxLength)}…` : text
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
