import { withoutEval } from './api/without-eval.ts'
import { applyColourScheme } from './theme/colour-scheme.ts'

applyColourScheme(document.documentElement)
withoutEval()

// Loaded after both: zod looks at its configuration as soon as a contract is read.
const { renderApp } = await import('./app.tsx')
const root = document.getElementById('root')
if (root) renderApp(root)
