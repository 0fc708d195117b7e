import type { z } from 'zod'
import { UsageError } from './failure.ts'

/** Validates options with the rules of a contract. Problems name the option: `errorCode` is `--error-code`. */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = String(issue?.path[0]).replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
  throw new UsageError(`--${name} ${issue?.message}.`)
}
