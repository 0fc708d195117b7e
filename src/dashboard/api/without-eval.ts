/**
 * Zod would try whether it may compile code, and the page's content policy would report the attempt. This
 * is `z.config({ jitless: true })`, said before zod is there.
 */
export function withoutEval(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}
