import path from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { listPackages } from './bundled-packages.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** Folder of the chunks in `dist/`, like the entry point in the sources: modules find files relative to `import.meta.url`. */
const folder = 'src/cli'

/**
 * PGlite reads WebAssembly and archives next to its own files. The renderers need development dependencies, and the package
 * contains their output. The Fastify modules are never loaded, because no route has a JSON schema and no code injects
 * requests.
 */
const notBundled = [
  /^@electric-sql\/pglite/,
  /\/http\/docs\/render\/pages\.ts$/,
  /\/http\/openapi\/openapi\.ts$/,
  /^(@fastify\/(ajv|fast-json-stringify)-compiler|light-my-request)$/,
]

/**
 * Bundles the server and the commands with their packages into `dist/src/cli`, because resolving and reading 1,200 files
 * took most of the startup time. Dynamic imports become separate files, so they still load on demand. The code is not
 * minified, so that stack traces are readable. Returns the paths of the bundled packages, as in the lock file.
 */
export async function bundleServer(dist: string): Promise<string[]> {
  await using bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: {
      main: path.join(root, folder, 'main.ts'),
      'processes/start-limits': path.join(root, folder, 'processes/start-limits.ts'),
      'cluster-process': path.join(root, 'src/platform/db/embedded/cluster-process.ts'),
    },
    external: (id) => notBundled.some((pattern) => pattern.test(id)),
    plugins: [keepLocations(), reduceMemory()],
  })
  const { output } = await bundle.write({
    dir: path.join(dist, folder),
    format: 'esm',
    entryFileNames: '[name].js',
    // A process that still runs when an upgrade replaces the files must not load a chunk of the new version.
    chunkFileNames: '[name]-[hash].js',
    // Comments are a fifth of the source text that V8 would keep in memory.
    comments: { jsdoc: false, legal: false, annotation: false },
  })
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk')
  return listPackages(chunks.flatMap(({ moduleIds }) => moduleIds))
}

/** Rewrites `import.meta.url`, so that a module finds its files at the same paths as in the sources. */
function keepLocations(): Plugin {
  return {
    name: 'keep-locations',
    transform(code, id) {
      if (!id.startsWith(path.join(root, 'src')) || !code.includes('import.meta.url')) return undefined
      const location = path.relative(path.join(root, folder), id).replaceAll(path.sep, '/').replace(/\.ts$/, '.js')
      return code.replaceAll('import.meta.url', `new URL('${location}', import.meta.url).href`)
    },
  }
}

/** Changes chunks to reduce the server's memory. */
function reduceMemory(): Plugin {
  return {
    name: 'reduce-memory',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = escapeToAscii(loadHttpLazily(file.code))
    },
  }
}

/** An `import` reads all exports of `node:http`, including `WebSocket`, which loads Node's `fetch` and takes 3 MB. */
function loadHttpLazily(code: string): string {
  return code.replaceAll(
    /^import \{ (.+) \} from "node:http";$/gm,
    (_, names: string) => `const { ${names.replaceAll(' as ', ': ')} } = process.getBuiltinModule("node:http");`,
  )
}

/** If a file contains a non-ASCII character, V8 stores two bytes for every character. */
function escapeToAscii(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('an escaped character would change a raw string')
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
