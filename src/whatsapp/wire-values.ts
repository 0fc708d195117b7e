import { z } from 'zod'
import { cut } from '../platform/text.ts'

/**
 * Meta's text as it can be stored: PostgreSQL stores no NUL, and neither UTF-8 nor JSON has a form for half of a surrogate
 * pair. Otherwise one such text would fail a callback at each of Meta's retries, and a list of templates at each sync.
 */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

export function cutStorable(text: string, maxCharacters: number): string {
  return toStorable(cut(text, maxCharacters))
}

/** An optional field of Meta that accepts any type: one that cannot be read counts as absent. */
export function lenient<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined)
}

/**
 * A word of Meta that is compared, in capitals: Meta and providers write some of them in lower case. An empty text is
 * none.
 */
export const WireWord = z.string().overwrite(toStorable).toUpperCase().min(1)

/** An optional list of Meta. Items after the first `max` are ignored, and those that cannot be read hide no others. */
export function lenientList<T extends z.ZodType>(schema: T, max: number) {
  const readItems = (items: unknown[]) => items.slice(0, max).flatMap((item) => schema.safeParse(item).data ?? [])
  return lenient(z.array(z.unknown()).transform(readItems))
}

const Text = z.string().overwrite(toStorable)

/** Returns the object that a text of JSON describes; any other value unchanged. */
function unwrapJson(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** The details of an error: an object with a text; in older payloads a text alone, also of JSON. */
export const ErrorData = z.preprocess(
  unwrapJson,
  z.union([z.object({ details: lenient(Text) }).transform(({ details }) => details), Text]),
)

const digits = /^\s*-?\d+(?:\.\d+)?\s*$/

/**
 * A number of Meta, which some payloads write as text. Unlike `z.coerce`, it does not read null, an empty text or an
 * empty list as 0, which is an error code of its own.
 */
export const WireNumber = z.union([z.string().regex(digits).transform(Number), z.number()])

/** An ID of Meta, which some payloads write as a number. Unlike `z.coerce`, it does not read null as the text `null`. */
export const WireId = z.union([
  z.string().min(1).overwrite(toStorable),
  z.number().int().nonnegative().transform(String),
])

/** Before WhatsApp: 0 stands for no time. */
const firstSecond = 1_000_000_000
/** From here on, the number can only mean milliseconds: as seconds, it is a time after the year 5000. */
const firstMillisecond = 100_000_000_000
/** The first that no `Timestamp` of ours can be. */
const lastMillisecond = Date.UTC(9999, 0, 1)

/** Reads the Unix seconds of a callback, or milliseconds. Returns undefined for a number that is no time of an event. */
export function toDate(time: number): Date | undefined {
  const milliseconds = time < firstMillisecond ? time * 1000 : time
  return milliseconds >= firstSecond * 1000 && milliseconds < lastMillisecond ? new Date(milliseconds) : undefined
}
