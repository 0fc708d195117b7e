import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { writeManifest } from '../../src/packaging/manifest.ts'
import { compareDocumented } from '../support/documented-sizes.ts'
import { freePort } from '../support/postgres.ts'
import { measureMegabytes, repository, run } from './run.ts'
import { startServer, type Server } from './server.ts'

const manifest = writeManifest(packageJson)

const Packed = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
])

const Sbom = z.object({
  bomFormat: z.string(),
  components: z.array(z.object({ group: z.string().optional(), name: z.string() })),
})

let folder: string
let packed: z.output<typeof Packed>[0]

/** A customer's project that has only the packed archive from this repository. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waybill-package-'))
  await run(repository, 'npm', ['run', 'build'])
  const response = await run(repository, 'npm', ['pack', './dist', '--json', '--pack-destination', folder])
  packed = Packed.parse(JSON.parse(response))[0]
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'customer', private: true, type: 'module' }),
  )
  await run(folder, 'npm', ['install', '--omit=dev', path.join(folder, packed.filename)])
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the archive', () => {
  test('contains only build output', () => {
    const names = packed.files.map((file) => file.path)

    expect([...new Set(names.map((name) => name.split('/')[0]))].toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'contracts',
      'docs',
      'licenses.txt',
      'openapi.json',
      'package.json',
      'sbom.cdx.json',
      'src',
    ])
    expect(
      names.filter((name) =>
        /(^|\/)test\/|\.test\.|\.env|secret\.key|\.map$|\.tsx?$/.test(name.replace(/\.d\.ts$/, '')),
      ),
    ).toEqual([])
  })

  test('names chunks of the server by their content, so that a running server loads none of another version', () => {
    const names = packed.files.map((file) => file.path).filter((name) => /^src\/cli\/.*\.js$/.test(name))

    expect(names.filter((name) => !/-[\w-]{8}\.js$/.test(name)).toSorted()).toEqual([
      'src/cli/cluster-process.js',
      'src/cli/main.js',
      'src/cli/processes/start-limits.js',
      'src/cli/waybill.js',
    ])
  })

  test('is small enough to install only for the client', () => {
    expect(packed.size).toBeLessThan(4_600_000)
  })

  test('contains a file for every export and for the command', () => {
    const files = packed.files.map((file) => `./${file.path}`)
    const exported = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    )

    const missing = [...exported, `./${manifest.bin.waybill}`].filter((target) => {
      const [start = '', end = ''] = target.split('*')
      return !files.some((file) => file.startsWith(start) && file.endsWith(end))
    })
    expect(missing).toEqual([])
  })
})

describe('the software bill of materials', () => {
  test('is in the archive and lists installed and bundled packages', async () => {
    const file = path.join(folder, 'node_modules/waybill/sbom.cdx.json')
    const text = await readFile(file, 'utf8')
    const { bomFormat, components } = Sbom.parse(JSON.parse(text))
    const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))

    expect(bomFormat).toBe('CycloneDX')
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)))
    expect(names).toEqual(
      expect.arrayContaining([
        'fastify',
        'better-auth',
        'react',
        'react-dom',
        '@mantine/core',
        '@scalar/api-reference',
      ]),
    )
    expect(names.filter((name) => /^(vite|vitest|oxlint|playwright-core|oidc-provider|axe-core)$/.test(name))).toEqual(
      [],
    )
    expect(text).not.toContain(repository)
  })
})

test('the licences of bundled packages are in the archive', async () => {
  const licenses = await readFile(path.join(folder, 'node_modules/waybill/licenses.txt'), 'utf8')

  for (const name of ['fastify', 'better-auth', 'undici', 'react', '@scalar/api-reference'])
    expect(licenses).toMatch(new RegExp(`^${name} \\S+ \\(MIT\\)$`, 'm'))
  expect(licenses).toContain('Copyright (c) Matteo Collina and Undici contributors')
})

describe('an installation', () => {
  test("includes neither Node.js nor documentation other than Scalar's file", async () => {
    const modules = await readdir(path.join(folder, 'node_modules'))

    expect(modules.filter((name) => /^node-|^@scalar$|^vue$|^trpc-to-openapi$|^@redocly$/.test(name))).toEqual([])
    // Others are bundled.
    expect(modules.filter((name) => /^(fastify|pg|kysely|better-auth|undici|pino)$/.test(name))).toEqual([])
  })

  test('takes what the documentation says', async () => {
    const megabytes = [
      Math.round(packed.size / 100_000) / 10,
      await measureMegabytes(path.join(folder, 'node_modules')),
    ]
    expect(
      await compareDocumented('operating/deploying.md', 'It takes {} MB, and {} MB with its dependencies', megabytes),
    ).toEqual([])
  })

  test('has the command with its help', async () => {
    expect(await run(folder, 'npx', ['waybill', '--help'])).toContain('waybill <command>')
    expect((await run(folder, 'npx', ['waybill', '--version'])).trim()).toBe(packageJson.version)
  })

  test('writes the openapi.json of the repository', async () => {
    await run(folder, 'npx', ['waybill', 'openapi'])

    expect(await readOpenApi(folder)).toEqual(await readOpenApi(repository))
  })
})

async function readOpenApi(where: string): Promise<unknown> {
  return JSON.parse(await readFile(path.join(where, 'openapi.json'), 'utf8'))
}

describe('an installed server with the embedded database', () => {
  let server: Server
  let url: string

  beforeAll(async () => {
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    server = await startServer(folder, ['node_modules/.bin/waybill', 'serve'], { PORT: port })
  })

  afterAll(() => server.stop())

  test("serves the guides, the error pages and the API reference with Scalar's file", async () => {
    const page = await fetch(`${url}/docs/api`)
    const script = await fetch(`${url}/docs/scalar.js`)

    expect(await (await fetch(`${url}/docs/webhooks`)).text()).toContain('<h1>Receive webhooks</h1>')
    expect(await (await fetch(`${url}/docs/errors/131026`)).text()).toContain('<h1>WhatsApp error 131026</h1>')
    expect(await (await fetch(`${url}/llms.txt`)).text()).toContain('](/docs/webhooks.md)')
    expect((await fetch(`${url}/docs/images/dashboard.png`)).headers.get('content-type')).toBe('image/png')
    expect(await page.text()).toContain('/docs/scalar.js')
    expect(script.status).toBe(200)
    expect((await script.text()).length).toBeGreaterThan(1_000_000)
    const dashboard = await fetch(url)
    expect(dashboard.url).toBe(`${url}/settings/`)
    const [asset = ''] = /\/settings\/assets\/[^"]+\.js/.exec(await dashboard.text()) ?? []
    expect((await fetch(url + asset)).status).toBe(200)
  })

  test('runs commands while it serves', async () => {
    const created = await run(folder, 'npx', ['waybill', 'account', 'create', '--name', 'Customer', '--json'])

    expect(JSON.parse(created)).toEqual({ accountId: expect.stringMatching(/^acc_/), name: 'Customer' })
  })
})

describe('the client', () => {
  const program = `
    import { createClient, safe, type AppRouter, type WaybillClient } from 'waybill/client'
    import { contracts } from 'waybill/contracts'
    import { errors, type ErrorCode } from 'waybill/contracts/errors'

    const [url = '', apiKey = ''] = process.argv.slice(2)
    const client: WaybillClient = createClient({ url, apiKey })
    const sent = await client.message.send.mutate({ to: '34600111222', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': '1042' } })
    const status: 'pending' | 'sent' | 'delivered' | 'read' | 'failed' = sent.status

    const [, failure] = await safe(client.template.get.query({ name: 'no_such_template', language: 'en' }))
    const code: ErrorCode | undefined = failure?.data?.code
    console.log(JSON.stringify({ status, code, httpStatus: code && errors[code].status, path: contracts.message.send.path }))

    export type Router = AppRouter
    export async function mistakes() {
      // @ts-expect-error a recipient is text
      await client.message.send.mutate({ to: 34600111222, template: 'order_shipped', language: 'en' })
      // @ts-expect-error there is no such procedure
      await client.message.sned.mutate({})
      // @ts-expect-error its codes are known
      return code === 'TEMPLATE_NOT_FUOND'
    }
  `

  beforeAll(async () => {
    await writeFile(path.join(folder, 'send.ts'), program)
    await writeFile(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2022',
          lib: ['es2022', 'esnext.disposable', 'dom', 'dom.iterable'],
          module: 'nodenext',
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          verbatimModuleSyntax: true,
          skipLibCheck: false,
          types: [],
          noEmit: true,
        },
        files: ['send.ts', 'process.d.ts'],
      }),
    )
    await writeFile(path.join(folder, 'process.d.ts'), 'declare const process: { argv: string[] }\n')
  })

  test.each([
    { compiler: 'node_modules/typescript/bin/tsc' },
    { compiler: 'test/generated-client/node_modules/typescript/bin/tsc' },
  ])('has types that $compiler checks, including expected errors', async ({ compiler }) => {
    const output = await run(folder, process.execPath, [path.join(repository, compiler), '-p', '.']).catch(
      (error: { stdout: string }) => error.stdout,
    )

    expect(output).toBe('')
  })

  test('loads no server code', async () => {
    const loaded = await listLoadedFiles('waybill/client')

    expect(loaded.filter((file) => file.startsWith('waybill/'))).toEqual([
      'waybill/src/client/client.js',
      'waybill/src/client/upload.js',
    ])
    expect(new Set(loaded.map(nameOfPackage))).toEqual(new Set(['waybill', '@trpc/client', '@trpc/server']))
  })

  test('loads only contracts and zod for its contracts', async () => {
    const loaded = await listLoadedFiles('waybill/contracts')

    expect(loaded.filter((file) => file.startsWith('waybill/') && !file.startsWith('waybill/contracts/'))).toEqual([])
    expect(new Set(loaded.map(nameOfPackage))).toEqual(new Set(['waybill', 'zod']))
  })

  test('sends a message and returns the code of a failure as a value', async () => {
    const port = String(await freePort())
    const server = await startServer(folder, ['node_modules/.bin/waybill', 'sandbox', '--json'], {
      PORT: port,
      WAYBILL_DATA_DIR: path.join(folder, 'sandbox'),
    })
    try {
      await expect.poll(server.output).toContain('apiKey')
      const { url, apiKey } = z.object({ url: z.string(), apiKey: z.string() }).parse(JSON.parse(server.output()))

      expect(JSON.parse(await run(folder, process.execPath, ['send.ts', url, apiKey]))).toEqual({
        status: 'sent',
        code: 'TEMPLATE_NOT_FOUND',
        httpStatus: 404,
        path: '/api/v1/message/send',
      })
    } finally {
      await server.stop()
    }
  })
})

describe('the webhook receiver', () => {
  const program = `
    import { createWebhookHandler, verifyWebhook, WebhookVerificationError, type ReceivedEvent } from 'waybill/webhook'

    const handle = createWebhookHandler({
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      on: {
        'message.failed': ({ data }) => data.error.message satisfies string,
        // @ts-expect-error there is no such event
        'message.fialed': () => undefined,
      },
    })
    const { status, body } = await handle('{}', new Headers({ 'webhook-id': 'evt_1' }))
    console.log(JSON.stringify({ status, body }))

    export function receive(body: string, headers: Record<string, string>): string | undefined {
      try {
        const event: ReceivedEvent = verifyWebhook(body, headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
        return event.type === 'message.read' ? event.data.externalId : undefined
      } catch (error) {
        return error instanceof WebhookVerificationError ? error.message : undefined
      }
    }
  `

  test('is typed and rejects an unsigned request', async () => {
    await writeFile(path.join(folder, 'receive.ts'), program)
    const tsconfig = { extends: './tsconfig.json', files: ['receive.ts'] }
    await writeFile(path.join(folder, 'tsconfig.receive.json'), JSON.stringify(tsconfig))
    const compiler = path.join(repository, 'node_modules/typescript/bin/tsc')
    const output = await run(folder, process.execPath, [compiler, '-p', 'tsconfig.receive.json']).catch(
      (error: { stdout: string }) => error.stdout,
    )

    expect(output).toBe('')
    expect(JSON.parse(await run(folder, process.execPath, ['receive.ts']))).toEqual({
      status: 400,
      body: 'The header webhook-timestamp is missing',
    })
  })

  test('loads no server code', async () => {
    const loaded = await listLoadedFiles('waybill/webhook')

    expect(
      loaded.filter((file) => file.startsWith('waybill/src/') && !file.startsWith('waybill/src/receiver/')),
    ).toEqual([])
    expect(new Set(loaded.map(nameOfPackage))).toEqual(
      new Set(['waybill', 'standardwebhooks', '@stablelib/base64', 'fast-sha256']),
    )
  })
})

/** The files that an import loads from `node_modules`. */
async function listLoadedFiles(specifier: string): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
    await import(${JSON.stringify(specifier)})
  `
  const lines = (await run(folder, process.execPath, ['--input-type=module', '--eval', script])).split('\n')
  return lines.flatMap((line) => line.split('/node_modules/').slice(1))
}

function nameOfPackage(file: string): string {
  return file.split('/', file.startsWith('@') ? 2 : 1).join('/')
}
