import { z } from 'zod'

/** An optional field of Meta that accepts any type: one that cannot be read counts as absent. */
export function lenient<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined)
}

const digits = /^\s*-?\d+(?:\.\d+)?\s*$/

/**
 * A number of Meta, which some payloads write as text. Unlike `z.coerce`, it does not read null, an empty text or an
 * empty list as 0, which is an error code of its own.
 */
export const WireNumber = z.union([z.string().regex(digits).transform(Number), z.number()])

/** An ID of Meta, which some payloads write as a number. Unlike `z.coerce`, it does not read null as the text `null`. */
export const WireId = z.union([z.string().min(1), z.number().int().nonnegative().transform(String)])
