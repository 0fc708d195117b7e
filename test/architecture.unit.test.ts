import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { groups } from './mutation/files.ts'

/** What both interfaces, HTTP and the command line, may import. */
const belowInterfaces = [
  'src/pipeline',
  'src/background',
  'contracts',
  'src/platform',
  'src/whatsapp',
  'src/accounts',
  'src/whatsapp-accounts',
  'src/users',
  'src/templates',
  'src/webhooks',
  'src/media',
  'src/messages',
  'src/client',
  'src/deps.ts',
  'src/app.ts',
  'package.json',
]

/**
 * What each folder may import: other folders and packages. Imports point in one direction, so that each folder can be
 * read and tested without the folders that depend on it:
 *
 *     contracts ← platform ← whatsapp ← accounts ← whatsapp-accounts ← users, webhooks ← media ← templates ← messages ← pipeline, background ← http ← serve.ts ← cli
 *
 * Anything not listed is forbidden. `node:` modules may be imported by all server folders.
 */
const allowed = {
  contracts: { folders: [], packages: ['zod'] },
  'src/platform': {
    folders: ['contracts', 'package.json'],
    packages: [
      '@electric-sql/pglite',
      '@opentelemetry',
      'ipaddr.js',
      'kysely',
      'nodemailer',
      'pg',
      'pino',
      'prom-client',
      'undici',
      'zod',
    ],
  },
  'src/whatsapp': { folders: ['contracts', 'src/platform'], packages: ['@fastify/busboy', 'undici', 'zod'] },
  // Only the types of injected dependencies; `app.ts` creates the implementations.
  'src/deps.ts': {
    folders: [
      'src/platform',
      'src/whatsapp',
      'src/media/services.ts',
      'src/messages/send-journal.ts',
      'src/webhooks/sender/webhook-sender.ts',
    ],
    packages: ['kysely'],
  },
  'src/accounts': {
    folders: ['contracts', 'src/platform', 'src/whatsapp', 'src/deps.ts'],
    packages: ['ipaddr.js', 'kysely', 'zod'],
  },
  'src/whatsapp-accounts': {
    folders: ['contracts', 'src/platform', 'src/whatsapp', 'src/accounts', 'src/deps.ts'],
    packages: ['kysely', 'zod'],
  },
  'src/users': {
    folders: ['contracts', 'src/platform', 'src/accounts', 'src/whatsapp-accounts', 'src/deps.ts'],
    packages: ['better-auth', 'jose', 'kysely', 'zod'],
  },
  'src/templates': {
    folders: [
      'contracts',
      'src/platform',
      'src/whatsapp',
      'src/accounts',
      'src/whatsapp-accounts',
      // WhatsApp cannot reach the addresses that are closed to webhooks.
      'src/webhooks/endpoints/address.ts',
      'src/media',
      'src/deps.ts',
    ],
    packages: ['kysely', 'zod'],
  },
  'src/webhooks': {
    folders: ['contracts', 'src/platform', 'src/accounts', 'src/whatsapp-accounts', 'src/deps.ts', 'package.json'],
    packages: ['ipaddr.js', 'kysely', 'prom-client', 'undici', 'zod'],
  },
  'src/media': {
    folders: [
      'contracts',
      'src/platform',
      'src/whatsapp',
      'src/accounts',
      'src/whatsapp-accounts',
      'src/webhooks/sender',
      'src/webhooks/endpoints/address.ts',
      'src/deps.ts',
      'package.json',
    ],
    packages: ['aws4fetch', 'kysely', 'undici', 'zod'],
  },
  'src/messages': {
    folders: [
      'contracts',
      'src/platform',
      'src/whatsapp',
      'src/accounts',
      'src/whatsapp-accounts',
      'src/templates',
      'src/webhooks',
      'src/media',
      'src/deps.ts',
    ],
    packages: ['kysely', 'zod'],
  },
  'src/app.ts': {
    folders: [
      'src/platform',
      'src/whatsapp',
      'src/deps.ts',
      'src/media/services.ts',
      'src/messages/send-journal.ts',
      'src/webhooks/sender/sender.ts',
    ],
    packages: [],
  },
  // Every interface runs its procedures through it, so it knows none of them.
  'src/pipeline': { folders: ['contracts', 'src/platform', 'src/users', 'src/templates', 'src/deps.ts'], packages: [] },
  // Calls what the domains do without a caller, such as deleting old records.
  'src/background': {
    folders: [
      'contracts',
      'src/platform',
      'src/accounts',
      'src/whatsapp-accounts',
      'src/users',
      'src/templates',
      'src/webhooks',
      'src/media',
      'src/messages',
      'src/deps.ts',
      'package.json',
    ],
    packages: ['kysely', 'prom-client', 'zod'],
  },
  // Starts what a process of each role runs.
  'src/serve.ts': { folders: [...belowInterfaces, 'src/http'], packages: ['fastify', 'prom-client'] },
  'src/http': {
    folders: belowInterfaces,
    packages: [
      '@fastify/busboy',
      '@modelcontextprotocol/server',
      '@trpc/server',
      'fastify',
      'highlight.js',
      'kysely',
      'marked',
      'prom-client',
      'trpc-to-openapi',
      'yaml',
      'zod',
    ],
  },
  'src/cli': {
    folders: [...belowInterfaces, 'src/http', 'src/serve.ts'],
    packages: ['kysely', 'prom-client', 'yaml', 'zod'],
  },
  // The `waybill-client` command; everything else in the client package also runs in browsers.
  'src/client/cli': { folders: ['contracts', 'src/client'], packages: [] },
  'src/client': { folders: ['contracts'], packages: ['@trpc/client', '@trpc/server', 'zod'] },
  'src/receiver': { folders: ['contracts'], packages: ['standardwebhooks', 'zod'] },
  // Loaded by browsers: contracts, but no server code.
  'src/dashboard': {
    folders: ['contracts', 'src/packaging/translate-dashboard.ts'],
    packages: [
      '@fontsource-variable/inter',
      '@lingui/cli/api',
      '@lingui/conf',
      '@lingui/core',
      '@lingui/core/macro',
      '@lingui/format-po',
      '@lingui/message-utils/generateMessageId',
      '@lingui/react',
      '@lingui/react/macro',
      '@mantine/charts',
      '@mantine/core',
      '@mantine/form',
      '@mantine/hooks',
      '@mantine/notifications',
      '@tabler/icons-react',
      '@tanstack/react-query',
      '@trpc/client',
      '@trpc/server',
      '@vitejs/plugin-react',
      '@vvo/tzdb',
      'ipaddr.js',
      'qrcode.react',
      'react',
      'react-dom',
      'react-router',
      'vite',
      'zod',
    ],
  },
  // Builds the project and generates documents from the source.
  'src/packaging': {
    folders: [
      'contracts',
      'src/platform',
      'src/whatsapp',
      'src/webhooks',
      'src/pipeline',
      'src/background',
      'src/http',
      'src/cli',
      'src/app.ts',
      'src/deps.ts',
      'src/dashboard/lingui.config.ts',
    ],
    packages: [
      '@babel/core',
      '@lingui/babel-plugin-lingui-macro',
      '@lingui/cli/api',
      '@lingui/conf',
      '@lingui/message-utils/compileMessage',
      '@lingui/message-utils/generateMessageId',
      'prom-client',
      'rolldown',
      'vite',
    ],
  },
} as const satisfies Record<string, { folders: readonly string[]; packages: readonly string[] }>

type Area = keyof typeof allowed
const areas = Object.keys(allowed) as Area[]
const withoutNode = new Set<Area>(['contracts', 'src/client', 'src/receiver'])

const root = path.resolve(import.meta.dirname, '..')
const built = ['src/client/dist', 'src/dashboard/built']
const files = globSync('{contracts,src}/**/*.{ts,tsx}', { cwd: root, exclude: built })

test('lists the allowed imports of every source file', () => {
  expect(files.filter((file) => areaOf(file) === undefined)).toEqual([])
})

test.each(areas)('%s has only allowed imports', (area) => {
  expect(files.filter((file) => areaOf(file) === area).flatMap((file) => listForbidden(file, area))).toEqual([])
})

test('files import from Node first, then from packages, then from files', () => {
  const tests = globSync('test/**/*.ts', { cwd: root, exclude: ['**/node_modules', '**/generated'] })
  const disordered = [...files, ...tests].filter((file) => {
    const [beginning = ''] = readFileSync(path.join(root, file), 'utf8').split('\n\n')
    const ranks = [...beginning.matchAll(/^(?:import|\}) [^'\n]*from '([^']+)'/gm)].map(([, module = '']) =>
      rankOf(module),
    )
    return ranks.some((rank, index) => rank < (ranks[index - 1] ?? 0))
  })

  expect(disordered).toEqual([])
})

function rankOf(module: string): number {
  if (module.startsWith('node:')) return 0
  return module.startsWith('.') ? 2 : 1
}

test.each([
  {
    title: 'reading the configuration loads no database',
    entry: 'src/platform/config.ts',
    unused: ['node:sqlite', 'pg', 'kysely', '@electric-sql/pglite'],
  },
  {
    title: 'a command loads nothing that only a server needs',
    entry: 'src/cli/main.ts',
    unused: ['prom-client', 'fastify', 'better-auth', '@electric-sql/pglite'],
  },
])('$title', ({ entry, unused }) => {
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const specifier of listLoaded(file)) {
      const next = specifier.startsWith('.') ? path.join(path.dirname(file), specifier) : specifier
      if (next.endsWith('.ts')) load(next)
      else loaded.add(next)
    }
  }
  load(entry)

  expect([...loaded]).toContain('zod')
  for (const module of unused) expect([...loaded]).not.toContain(module)
})

test('the mutation tests name files that exist', () => {
  const mutated = Object.values(groups).flatMap(({ files: tests }) => Object.entries(tests).flat(2))

  expect(mutated.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})

function areaOf(file: string): Area | undefined {
  return areas.find((area) => file === area || file.startsWith(`${area}/`))
}

function listForbidden(file: string, area: Area): string[] {
  return listImports(file)
    .filter((specifier) => !mayImport(file, area, specifier))
    .map((specifier) => `${file} imports ${specifier}`)
}

function mayImport(file: string, area: Area, specifier: string): boolean {
  if (specifier.startsWith('node:')) return !withoutNode.has(area)
  const { folders, packages } = allowed[area]
  if (!specifier.startsWith('.')) return isWithin(packages, specifier)
  return isWithin([area, ...folders], path.join(path.dirname(file), specifier))
}

function isWithin(names: readonly string[], name: string): boolean {
  return names.some((allowedName) => name === allowedName || name.startsWith(`${allowedName}/`))
}

function listImports(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  return [
    ...text.matchAll(/^(?:import|export|\})[^'\n]* from '([^'\n]+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

/** What a file loads at once: neither types nor what it loads on demand. */
function listLoaded(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  return [...text.matchAll(/^(?:(?:import|export) (?!type\b)|\})[^'\n]* from '([^'\n]+)'|^import '([^']+)'/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
}
