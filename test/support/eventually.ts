import { vi } from 'vitest'
import { patience } from './patience.ts'

/** Repeats a check until it passes, and returns its result. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, patience.expect.poll)
}
