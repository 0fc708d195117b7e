import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageLock from '../../package-lock.json' with { type: 'json' }
import {
  freePort,
  run as runStatement,
  startPostgres,
  withDatabase,
  type RunningPostgres,
} from '../support/postgres.ts'
import { readCompose, readSecretsLine } from './compose.ts'
import { readInstructions } from './dockerfile.ts'
import { buildImage, type Image } from './image.ts'
import { measureMegabytes, repository, run } from './run.ts'
import { startServer } from './server.ts'

test('the image has the Node that the repository brings along', async () => {
  const dockerfile = readInstructions(await readFile(path.join(repository, 'Dockerfile'), 'utf8'))
  const versions = new Set(Object.values(packageLock.packages['src/packaging/runtime'].optionalDependencies))

  expect(dockerfile.find(({ keyword }) => keyword === 'ARG')?.rest).toBe(`NODE_VERSION=${[...versions].join()}`)
})

describe('the secrets of compose.yaml', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-secrets-'))
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('are made by one line, which keeps those that exist', async () => {
    await run(folder, 'bash', ['-c', await readSecretsLine()])
    const made = await readFile(path.join(folder, '.env'), 'utf8')
    const { POSTGRES_PASSWORD, WAYBILL_SECRET_KEY = '' } = parseEnv(made)

    expect(POSTGRES_PASSWORD).toMatch(/^[0-9a-f]{48}$/)
    expect(Buffer.from(WAYBILL_SECRET_KEY, 'base64')).toHaveLength(32)
    expect((await stat(path.join(folder, '.env'))).mode & 0o777).toBe(0o600)
    await expect(run(folder, 'bash', ['-c', await readSecretsLine()])).rejects.toThrow('.env')
    expect(await readFile(path.join(folder, '.env'), 'utf8')).toBe(made)
  })

  test('have no default: without them nothing starts', async () => {
    await expect(readCompose({})).rejects.toThrow('see the head of compose.yaml')
  })
})

describe('what the image runs', () => {
  const secrets = { POSTGRES_PASSWORD: 'waybill', WAYBILL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  let postgres: RunningPostgres
  let image: Image
  let environment: Record<string, string> & { PORT: string }

  beforeAll(async () => {
    postgres = await startPostgres()
    await runStatement(postgres.url, 'create database waybill')
    image = await buildImage()
    environment = { ...image.environment, ...(await composeEnvironment()), PORT: String(await freePort()) }
  })

  afterAll(async () => {
    await postgres.stop()
    await rm(image.folder, { recursive: true, force: true })
  })

  /** As compose.yaml sets it, but for the place of the database. */
  async function composeEnvironment(): Promise<Record<string, string>> {
    const { waybill } = await readCompose(secrets)
    const given = new URL(waybill.environment['DATABASE_URL'] ?? '')
    const real = new URL(withDatabase(postgres.url, given.pathname.slice(1)))
    real.username = given.username
    real.password = given.password
    return { ...waybill.environment, DATABASE_URL: real.href }
  }

  /** The entry point is a link to this file, in `/usr/local/bin`. */
  function waybill(...args: string[]): [string, ...string[]] {
    return [path.join(image.app, 'dist/src/cli/waybill.js'), ...args]
  }

  test('was made by the lines of the Dockerfile, but for these', () => {
    expect(image.skipped).toEqual([
      'npm cache clean --force',
      'ln -s /app/dist/src/cli/waybill.js /usr/local/bin/waybill',
      'install --directory --owner=node --group=node --mode=0700 /data',
    ])
    expect(image.vectors.ENTRYPOINT).toEqual(['waybill'])
  })

  test('is what production needs and no more', async () => {
    const modules = await readdir(path.join(image.app, 'node_modules'))
    const megabytes = await measureMegabytes(image.app)

    expect(modules.filter((name) => /^node-|vitest|scalar|redocly|^@typescript|embedded/.test(name))).toEqual([])
    expect((await readdir(image.app)).toSorted()).toEqual(
      ['.npmrc', 'dist', 'node_modules', 'package-lock.json', 'package.json', 'src', 'test'].toSorted(),
    )
    expect(megabytes).toBeLessThan(110)
    console.log(`What the image adds to its base takes ${megabytes} MB.`)
  })

  test('migrates, serves, is healthy, and ends on SIGTERM', async () => {
    const [command, ...args] = waybill('migrate', '--json')
    expect(JSON.parse(await run(image.app, command, args, environment))).toMatchObject({
      applied: expect.arrayContaining([expect.stringMatching(/^0001/)]),
    })

    const before = await listFiles()
    const server = await startServer(image.app, waybill(...image.vectors.CMD), environment)
    console.log(`It was ready ${Math.round(server.startMilliseconds)} ms after its start.`)

    await expect(checkHealth()).resolves.toBe('')
    expect(await server.stop()).toBe(0)
    await expect(checkHealth()).rejects.toMatchObject({ code: 1 })
    // compose.yaml gives it a file system that is read-only.
    expect(await listFiles()).toEqual(before)
  })

  test('migrates by itself when it serves an empty database', async () => {
    await runStatement(postgres.url, 'create database another')
    const another = { ...environment, DATABASE_URL: withDatabase(postgres.url, 'another') }
    const server = await startServer(image.app, waybill('serve'), another)

    const [command, ...args] = waybill('account', 'create', '--name', 'Customer', '--json')
    expect(JSON.parse(await run(image.app, command, args, another))).toMatchObject({ name: 'Customer' })
    expect(await server.stop()).toBe(0)
  })

  function checkHealth(): Promise<string> {
    const [command = '', ...args] = image.vectors.HEALTHCHECK
    return run(image.app, command, args, environment)
  }

  async function listFiles(): Promise<string[]> {
    const files = await readdir(image.app, { recursive: true })
    return files.toSorted()
  }
})
