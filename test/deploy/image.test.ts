import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { isolateRoot, type IsolatedProcess, type IsolatedRoot } from '../support/isolated-root.ts'
import { freePort } from '../support/postgres.ts'
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

async function finish({ outside }: IsolatedProcess): Promise<{ code: number | null; output: string }> {
  const exited = new Promise<number | null>((resolve) => outside.once('exit', resolve))
  const { stdout, stderr } = outside
  const [output, errors, code] = await Promise.all([stdout ? text(stdout) : '', stderr ? text(stderr) : '', exited])
  return { code, output: output + errors }
}

function isHealthy(): Promise<boolean> {
  const [, ...check] = image.config.Healthcheck.Test
  return finish(start(...check)).then(({ code }) => code === 0)
}

test('adds only the server to its base', () => {
  console.log(`The image adds ${image.addedMegabytes} MB to its base.`)
  expect(image.addedMegabytes).toBeLessThan(80)
})

test('serves on a read-only file system as its own user, and exits with 0 on its stop signal', async () => {
  const server = start(...image.config.Entrypoint, ...image.config.Cmd)
  const finished = finish(server)
  await expect.poll(isHealthy).toBe(true)

  expect((await finish(start('sh', '-c', 'id -un; touch /app/file'))).output).toMatch(
    new RegExp(`^${image.config.User}\n.*Read-only file system`),
  )
  await server.signal(image.config.StopSignal as 'SIGTERM', 'process')
  expect((await finished).code).toBe(0)
  expect(await isHealthy()).toBe(false)
})

test('sends a message', async () => {
  const sandbox = start(...image.config.Entrypoint, 'sandbox')
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
