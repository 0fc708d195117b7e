import { applyColourScheme } from './theme/colour-scheme.ts'

applyColourScheme(document.documentElement)
withoutEval()

// Loaded after both: zod looks at its configuration as soon as a contract is read.
const { renderApp } = await import('./app.tsx')
const root = document.getElementById('root')
if (root) renderApp(root)

/**
 * Zod would try whether it may compile code, and the page's content policy would report the attempt. This
 * is `z.config({ jitless: true })`, said before zod is there.
 */
function withoutEval(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}
