/** The code of an error of Node, `pg` or Undici, such as `ECONNREFUSED`; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
