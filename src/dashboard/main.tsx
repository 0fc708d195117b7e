import { findPage } from './load-page.ts'
import { applyColourScheme } from './theme/colour-scheme.ts'

applyColourScheme(document.documentElement)
disableZodEval()

// Imported dynamically, because zod reads its configuration when the first contract is loaded. The page and the app are
// loaded in parallel. If the page cannot be loaded, the router reports it.
findPage(location.pathname)?.().catch(() => {})
const [{ renderApp }, { startLanguage }] = await Promise.all([import('./app.tsx'), import('./language/language.ts')])
await startLanguage()
const root = document.getElementById('root')
if (root) renderApp(root)

/**
 * Equivalent to `z.config({ jitless: true })`, but before zod is loaded: zod tests whether it can compile code, and the
 * content security policy would report the attempt.
 */
function disableZodEval(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}
