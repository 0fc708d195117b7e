/**
 * Process: our own server, the arguments being `waybill`'s, with no two calls of the database joined:
 * each runs its statement for one, as it would alone.
 */
import { registerHooks } from 'node:module'

const joined = new URL('../../src/platform/db/batched.ts', import.meta.url).href
const notJoined = new URL('./not-joined.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier, context)
    return resolved.url === joined ? { ...resolved, url: notJoined } : resolved
  },
})

// Only now, so that the hook sees what it imports.
const { main } = await import('../../src/cli/main.ts')
process.exitCode = await main(process.argv.slice(2), process.env)
