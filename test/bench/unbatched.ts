/**
 * Process: Waybill with its usual arguments but without batching. Each database call runs its own statement.
 */
import { registerHooks } from 'node:module'

const batched = new URL('../../src/platform/db/batched.ts', import.meta.url).href
const notBatched = new URL('./not-batched.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier, context)
    return resolved.url === batched ? { ...resolved, url: notBatched } : resolved
  },
})

// Imported after the hook is registered.
const { main } = await import('../../src/cli/main.ts')
process.exitCode = await main(process.argv.slice(2), process.env)
