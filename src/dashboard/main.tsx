import { applyColourScheme } from './theme/colour-scheme.ts'

applyColourScheme(document.documentElement)
disableZodEval()

// Imported last, because zod reads its configuration when the first contract is loaded.
const { renderApp } = await import('./app.tsx')
const root = document.getElementById('root')
if (root) renderApp(root)

/**
 * Does the same as `z.config({ jitless: true })`, before zod is loaded: zod tests whether it can compile code,
 * and the content security policy would report the attempt.
 */
function disableZodEval(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}
