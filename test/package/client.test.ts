import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import packageJson from '../../src/client/package.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/postgres.ts'
import {
  installToolchains,
  measureMegabytes,
  repository,
  run,
  type Toolchains,
  type TypeScriptVersion,
  typescriptVersions,
} from './run.ts'
import { compareDocumented } from '../support/documented-sizes.ts'
import { type Server, startServer } from './server.ts'

const Packed = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
])

type Resolution = 'nodenext' | 'node16' | 'bundler'

/** A program of a customer. It is compiled as an ES module and as CommonJS. */
const program = `
import { createClient, isWaybillError, safe, type AppRouter, type SendMessageInput, type WaybillClient } from 'waybill-client'
import { contracts } from 'waybill-client/contracts'
import { errors, type ErrorCode } from 'waybill-client/contracts/errors'
import { createFetchWebhookHandler, createWebhookHandler, type ReceivedEvent, verifyWebhook, WebhookVerificationError } from 'waybill-client/webhook'

const [url = '', apiKey = ''] = process.argv.slice(2)
const client: WaybillClient = createClient({ url, apiKey })
const input: SendMessageInput = { to: '34600111222', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': '1042' } }

const handle = createWebhookHandler({
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  on: {
    'message.failed': ({ data }) => data.error.message satisfies string,
    // @ts-expect-error there is no such event
    'message.fialed': () => undefined,
  },
})
export const answer: (request: Request) => Promise<Response> = createFetchWebhookHandler({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', on: {} })

export function receive(body: string, headers: Record<string, string>): string | undefined {
  try {
    const event: ReceivedEvent = verifyWebhook(body, headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    return event.type === 'message.read' ? event.data.externalId : undefined
  } catch (error) {
    return error instanceof WebhookVerificationError ? error.message : undefined
  }
}

async function main(): Promise<void> {
  const send = () => client.message.send.mutate(input, { context: { idempotencyKey: 'order-1042' }, signal: AbortSignal.timeout(20_000) })
  const sent = await send()
  const again = await send()
  const status: 'sent' = sent.status
  const [, failure] = await safe(client.template.get.query({ name: 'no_such_template', language: 'en' }))
  const code: ErrorCode | undefined = failure?.data?.code
  const thrown = await client.message.get.query({ messageId: 'msg_none' }).catch((error: unknown) => isWaybillError(error) ? error.data?.code : error)
  const rejected = await handle('{}', new Headers({ 'webhook-id': 'evt_1' }))
  console.log(JSON.stringify({
    status, code, thrown,
    sentOnce: sent.messageId === again.messageId,
    httpStatus: code && errors[code].status,
    path: contracts.message.send.path,
    webhook: rejected.body,
  }))
}
main().catch((error: unknown) => { console.error(error); process.exitCode = 1 })

export type Router = AppRouter
export async function mistakes() {
  // @ts-expect-error a recipient is text
  await client.message.send.mutate({ to: 34600111222, template: 'order_shipped', language: 'en' })
  // @ts-expect-error a send needs a recipient
  await client.message.send.mutate({ template: 'order_shipped', language: 'en' })
  // @ts-expect-error there is no such procedure
  await client.message.sned.mutate({})
  // @ts-expect-error there is no such option
  await client.message.send.mutate(input, { context: { idempotencykey: 'order-1042' } })
  const [, failure] = await safe(client.template.get.query({ name: 'order_shipped', language: 'en' }))
  // @ts-expect-error there is no such code
  const misspelled = failure?.data?.code === 'TEMPLATE_NOT_FUOND'
  // @ts-expect-error another procedure has this code
  const foreign = failure?.data?.code === 'MESSAGE_NOT_FOUND'
  return misspelled || foreign
}
`

/** The same customer, with the templates of the account as types. */
const typedProgram = `
import { createClient, type SendMessageInput } from 'waybill-client'

const client = createClient({ url: 'http://127.0.0.1:3000', apiKey: '' })
const to = '34600111222'
const input: SendMessageInput = { to, template: 'appointment_reminder', language: 'en', variables: { first_name: 'Ada', date: '12 May', time: '10:30' } }

export async function correct(): Promise<void> {
  await client.message.send.mutate(input, { context: { idempotencyKey: 'order-1042' } })
  await client.message.send.mutate({ to, template: 'order_shipped', language: 'es', variables: { '1': 'Ada', '2': '1042' }, externalId: 'order-1042' })
  await client.message.preview.mutate({ recipient: 'ES.2041776300912345', template: 'hello_world', language: 'en_US', accountId: 'wa_1' })
}

export async function mistakes(): Promise<void> {
  // @ts-expect-error the template is misspelled
  await client.message.send.mutate({ to, template: 'order_shiped', language: 'en', variables: { '1': 'Ada', '2': '1042' } })
  // @ts-expect-error the template has no such language
  await client.message.send.mutate({ to, template: 'order_shipped', language: 'en_US', variables: { '1': 'Ada', '2': '1042' } })
  // @ts-expect-error a variable is missing
  await client.message.send.mutate({ to, template: 'order_shipped', language: 'en', variables: { '1': 'Ada' } })
  // @ts-expect-error there is one variable too many
  await client.message.send.mutate({ to, template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': '1042', '3': '' } })
  // @ts-expect-error a variable is misspelled
  await client.message.send.mutate({ to, template: 'appointment_reminder', language: 'en', variables: { firstname: 'Ada', date: '12 May', time: '10:30' } })
  // @ts-expect-error a variable is text
  await client.message.send.mutate({ to, template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 1042 } })
  // @ts-expect-error the variables are missing
  await client.message.preview.mutate({ to, template: 'order_shipped', language: 'en' })
  // @ts-expect-error the template has no variables
  await client.message.preview.mutate({ to, template: 'hello_world', language: 'en_US', variables: { '1': 'Ada' } })
  // @ts-expect-error a recipient is text
  await client.message.send.mutate({ to: 34600111222, template: 'hello_world', language: 'en_US' })
  // @ts-expect-error a send needs a recipient
  await client.message.send.mutate({ template: 'hello_world', language: 'en_US' })
  // @ts-expect-error the template's name is not known
  await client.message.send.mutate({ to, template: process.argv[2] ?? '', language: 'en' })
}
`

let folder: string
let customer: string
let toolchains: Toolchains
let packed: z.output<typeof Packed>[0]

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waybill-client-'))
  customer = path.join(folder, 'customer')
  const tools = path.join(folder, 'tools')
  await mkdir(customer)
  await mkdir(tools)
  const pack = ['pack', '--json', '--workspace', 'waybill-client', '--pack-destination', folder]
  packed = Packed.parse(JSON.parse(await run(repository, 'npm', pack)))[0]
  toolchains = await installToolchains(tools)
  await writeFile(
    path.join(customer, 'package.json'),
    JSON.stringify({ name: 'customer', private: true, type: 'module' }),
  )
  await run(customer, 'npm', ['install', '--engine-strict', path.join(folder, packed.filename)])
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('the archive contains the build output and its documents', () => {
  const others = packed.files.map((file) => file.path).filter((file) => !file.startsWith('dist/'))

  expect(others.toSorted()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
  expect(packed.files.filter((file) => /dashboard|\.test\.|\.map$|src\/(?!client|receiver)/.test(file.path))).toEqual(
    [],
  )
})

test('a dry run of publishing prints no warning, and requests provenance', async () => {
  const output = await run(repository, 'sh', ['-c', 'npm publish --dry-run --workspace waybill-client 2>&1'])

  expect(output).toContain(`+ waybill-client@${packageJson.version}`)
  // Without a login, a dry run warns about it; it publishes nothing either way.
  expect(output).not.toMatch(/npm (error|warn publish(?! This command requires you to be logged in))/i)
  expect(packageJson.publishConfig).toEqual({ access: 'public', provenance: true })
  expect(await readFile(path.join(repository, 'src/client/CHANGELOG.md'), 'utf8')).toContain(
    `## ${packageJson.version}\n`,
  )
})

test('installs tRPC, zod and standardwebhooks, and nothing of the server', async () => {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })) })
    .parse(JSON.parse(await readFile(path.join(customer, 'node_modules/.package-lock.json'), 'utf8')))
  const installed = Object.keys(packages).map((place) => place.replace(/^.*node_modules\//, ''))

  // TypeScript is a peer dependency of tRPC, which npm installs if a project has none; it has one package per platform.
  const own = installed.filter((name) => !/^(@typescript\/.*|typescript)$/.test(name))
  expect(own.toSorted()).toEqual([
    '@stablelib/base64',
    '@trpc/client',
    '@trpc/server',
    'fast-sha256',
    'standardwebhooks',
    'waybill-client',
    'zod',
  ])
  expect(Object.values(packages).filter((each) => each.hasInstallScript)).toEqual([])
  const sizes = [installed.length, await measureMegabytes(customer)]
  expect(await compareDocumented('guides/typescript.md', 'it installs {} packages with {} MB', sizes)).toEqual([])
})

describe('a program of a customer', () => {
  let server: Server
  let sandbox: { url: string; apiKey: string }

  beforeAll(async () => {
    await run(customer, 'npm', ['install', '--save-dev', '@types/node@20'])
    await writeFile(path.join(customer, 'module.ts'), program)
    await writeFile(path.join(customer, 'common.cts'), program)
    const port = String(await freePort())
    const start = [process.execPath, path.join(repository, 'src/cli/waybill.js'), 'sandbox', '--json'] as const
    server = await startServer(folder, start, { PORT: port, WAYBILL_DATA_DIR: path.join(folder, 'sandbox') })
    const welcome = await eventually(() => {
      const [line] = /^\{"url".*\}$/m.exec(server.output()) ?? []
      if (line === undefined) throw new Error('the sandbox has not started')
      return line
    })
    sandbox = z.object({ url: z.string(), apiKey: z.string() }).parse(JSON.parse(welcome))
    const command = path.join(customer, 'node_modules/waybill-client', packageJson.bin['waybill-client'])
    await run(customer, toolchains.node20, [command, 'types', '--url', sandbox.url], {
      WAYBILL_API_KEY: sandbox.apiKey,
    })
    await writeFile(path.join(customer, 'typed-module.ts'), typedProgram)
    await writeFile(path.join(customer, 'typed-common.cts'), typedProgram)
  })

  afterAll(() => server?.stop())

  // A compiler takes ten seconds. How it finds files has not changed between the oldest and the newest version.
  const versions = typescriptVersions.map((version) => ({ version, resolution: 'nodenext' as const }))
  const others = (['5.7.2', '7.0.2'] as const).flatMap((version) =>
    (['node16', 'bundler'] as const).map((resolution) => ({ version, resolution })),
  )
  const oldest = { version: typescriptVersions[0], resolution: 'nodenext' as const }
  test.each([...versions.slice(1), ...others])(
    'compiles with TypeScript $version under $resolution, without dom, libraries included',
    async (how) => {
      expect(await compile(how)).toBe('')
    },
  )

  test.each(versions)('compiles with typed templates, and no mistake does, with TypeScript $version', async (how) => {
    expect(await compile(how, ['typed-module.ts', 'typed-common.cts', 'waybill-templates.d.ts'])).toBe('')
  })

  test('the compiler suggests the correct name of a misspelled template', async () => {
    const misspelled = typedProgram.replaceAll('@ts-expect-error', '')
    await writeFile(path.join(customer, 'misspelled.ts'), misspelled)

    const output = await compile({ version: '7.0.2', resolution: 'nodenext' }, [
      'misspelled.ts',
      'waybill-templates.d.ts',
    ])
    expect(output).toContain(`Did you mean '"order_shipped"'?`)
    expect(output.match(/error TS/g)).toHaveLength(11)
  })

  test('compiles with the oldest TypeScript, then sends once and reads error codes under Node 20', async () => {
    expect(await compile(oldest)).toBe('')
    expect(await run(customer, toolchains.node20, ['--version'])).toMatch(/^v20\./)
    // As an ES module and as CommonJS.
    for (const file of ['module.js', 'common.cjs']) {
      const output = await run(customer, toolchains.node20, [path.join('out', file), sandbox.url, sandbox.apiKey])
      expect({ file, ...JSON.parse(output) }).toEqual({
        file,
        status: 'sent',
        sentOnce: true,
        code: 'TEMPLATE_NOT_FOUND',
        thrown: 'MESSAGE_NOT_FOUND',
        httpStatus: 404,
        path: '/api/v1/message/send',
        webhook: 'The header webhook-timestamp is missing',
      })
    }
  })

  test('every exported file can be loaded with import and require', async () => {
    const dist = path.join(customer, 'node_modules/waybill-client/dist/esm/contracts')
    const contracts = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.js'))
    const names = ['', '/webhook', '/contracts', ...contracts.map((file) => `/contracts/${file.replace(/\.js$/, '')}`)]
    const specifiers = JSON.stringify(names.map((name) => `waybill-client${name}`))
    const list = `.map((loaded) => Object.keys(loaded).filter((name) => name !== 'default' && name !== 'module.exports').sort())`
    const asModules = `Promise.all(${specifiers}.map((name) => import(name))).then((all) => console.log(JSON.stringify(all${list})))`
    const asCommonJs = `console.log(JSON.stringify(${specifiers}.map((name) => require(name))${list}))`

    const modules = await run(customer, toolchains.node20, ['--input-type=module', '--eval', asModules])
    const commonJs = await run(customer, toolchains.node20, ['--input-type=commonjs', '--eval', asCommonJs])
    expect(JSON.parse(commonJs)).toEqual(JSON.parse(modules))
    expect(JSON.parse(modules)[0]).toEqual(['createClient', 'isWaybillError', 'safe', 'uploadMedia'])
  })
})

/** Returns what the compiler reports; nothing if the files compile. A bundler's project has one format. */
async function compile(
  { version, resolution }: { version: TypeScriptVersion; resolution: Resolution },
  files = resolution === 'bundler' ? ['module.ts'] : ['module.ts', 'common.cts'],
): Promise<string> {
  const isBundler = resolution === 'bundler'
  const project = `tsconfig.${version}.${resolution}.json`
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    outDir: 'out',
    rootDir: '.',
    ...(isBundler ? { module: 'esnext', moduleResolution: 'bundler', noEmit: true } : { module: resolution }),
  }
  await writeFile(path.join(customer, project), JSON.stringify({ compilerOptions, files }))
  return run(customer, process.execPath, [toolchains.tsc(version), '-p', project]).catch(
    (error: { stdout: string }) => error.stdout,
  )
}

test('npm installs the client from a running server, and npx runs its command', async () => {
  const empty = path.join(folder, 'empty')
  await mkdir(empty)
  const port = String(await freePort())
  const environment = { PORT: port, WAYBILL_DATA_DIR: path.join(folder, 'sandbox') }
  const server = await startServer(repository, [process.execPath, 'src/cli/waybill.js', 'sandbox'], environment)
  try {
    const archive = `http://127.0.0.1:${port}/client/waybill-client.tgz`
    await run(empty, 'npm', ['install', archive])
    const code = "import('waybill-client/webhook').then(({ verifyWebhook }) => console.log(typeof verifyWebhook))"
    expect(await run(empty, process.execPath, ['--eval', code])).toBe('function\n')
    expect(await run(folder, 'npx', ['--yes', `--package=${archive}`, 'waybill-client', '--help'])).toContain(
      'waybill-client types --url URL',
    )
  } finally {
    await server.stop()
  }
})
