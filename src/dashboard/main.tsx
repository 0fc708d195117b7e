import { findPage } from './load-page.ts'
import { applyColourScheme } from './theme/colour-scheme.ts'

applyColourScheme(document.documentElement)
disableZodEval()

// Everything else is imported last, because zod reads its configuration when the first contract is loaded, and at once:
// the page does not wait for the frame around it. If it cannot be loaded, the router says so.
findPage(location.pathname)?.().catch(() => {})
const [{ renderApp }, { startLanguage }] = await Promise.all([import('./app.tsx'), import('./language/language.ts')])
await startLanguage()
const root = document.getElementById('root')
if (root) renderApp(root)

/**
 * Does the same as `z.config({ jitless: true })`, before zod is loaded: zod tests whether it can compile code,
 * and the content security policy would report the attempt.
 */
function disableZodEval(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}
