import path from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { listPackages } from './bundled-packages.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** Where chunks are written, in the sources and below `dist/`: modules find files relative to `import.meta.url`. */
const folder = 'src/cli'

/**
 * PGlite reads its WebAssembly and its archives beside its own files. The renderers need packages that are installed for
 * development only, and a package has the pages and documents that they wrote. The parts of Fastify are never loaded: no
 * route has a JSON schema, and nobody injects requests.
 */
const notBundled = [
  /^@electric-sql\/pglite/,
  /\/http\/docs\/render\/pages\.ts$/,
  /\/http\/openapi\/openapi\.ts$/,
  /^(@fastify\/(ajv|fast-json-stringify)-compiler|light-my-request)$/,
]

/**
 * Bundles the server and the commands with their packages into `dist/src/cli`, because resolving and reading 1,200
 * files took most of a start. Dynamic imports become files of their own, so they still load when they are needed.
 * Nothing is minified, so that stack traces name functions and lead to readable lines. Returns the paths of the bundled
 * packages, as in the lock file.
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
    plugins: [keepLocations(), spareMemory()],
  })
  const { output } = await bundle.write({
    dir: path.join(dist, folder),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // A fifth of the text that V8 would keep.
    comments: { jsdoc: false, legal: false, annotation: false },
  })
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk')
  return listPackages(chunks.flatMap(({ moduleIds }) => moduleIds))
}

/** Lets a module find its files where the sources have them, although its code has moved into a chunk. */
function keepLocations(): Plugin {
  return {
    name: 'keep-locations',
    transform(code, id) {
      if (!id.startsWith(path.join(root, 'src')) || !code.includes('import.meta.url')) return undefined
      const place = path.relative(path.join(root, folder), id).replaceAll(path.sep, '/').replace(/\.ts$/, '.js')
      return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`)
    },
  }
}

/** Changes to the text of chunks that spare the memory of a server. */
function spareMemory(): Plugin {
  return {
    name: 'spare-memory',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = escapeToAscii(loadHttpLazily(file.code))
    },
  }
}

/**
 * An `import` reads all exports of `node:http`, and `WebSocket` among them loads Node's implementation of `fetch`, which
 * takes 3 MB.
 */
function loadHttpLazily(code: string): string {
  return code.replaceAll(
    /^import \{ (.+) \} from "node:http";$/gm,
    (_, names: string) => `const { ${names.replaceAll(' as ', ': ')} } = process.getBuiltinModule("node:http");`,
  )
}

/** With a single character beyond ASCII, Node keeps two bytes for each character of a file. */
function escapeToAscii(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('an escaped character would change a raw string')
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
