import { formatPath, ServiceError } from '../../../contracts/errors.ts'
import { cut } from '../../platform/text.ts'

/**
 * Rejects text that cannot be stored and returned unchanged: half of a surrogate pair (RFC 7493, 2.1), which UTF-8 cannot
 * encode, and the name `__proto__`, which parsers drop. `raw` has passed its schema, so its depth is bounded.
 */
export function rejectUnstorable(raw: unknown): void {
  if (isStorable(raw)) return
  const { path, problem } = findUnstorable(raw, []) ?? { path: [], problem: halfPair }
  const field = cut(formatPath(path), 80)
  throw new ServiceError('VALIDATION_ERROR', `${field}: ${problem}.`, {
    fields: { [path.join('.').toWellFormed()]: problem },
  })
}

const halfPair = 'must not contain half of a surrogate pair: cut text between characters, not within an emoji'
const reservedName = 'must not contain the name __proto__'

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  for (const name of Object.keys(value))
    if (!isStorableName(name) || !isStorable(value[name as keyof typeof value])) return false
  return true
}

function isStorableName(name: string): boolean {
  return name.isWellFormed() && name !== '__proto__'
}

function findUnstorable(value: unknown, path: string[]): { path: string[]; problem: string } | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : { path, problem: halfPair }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, item] of Object.entries(value)) {
    if (name === '__proto__') return { path, problem: reservedName }
    if (!name.isWellFormed()) return { path, problem: halfPair }
    const found = findUnstorable(item, [...path, name])
    if (found) return found
  }
  return undefined
}
