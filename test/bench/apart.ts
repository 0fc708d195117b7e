/**
 * Process: our own server, the arguments being `waybill`'s, with no two calls of the database in one batch:
 * each runs its statement for one, as it would alone.
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

// Only now, so that the hook sees what it imports.
const { main } = await import('../../src/cli/main.ts')
process.exitCode = await main(process.argv.slice(2), process.env)
