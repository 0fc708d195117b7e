import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDebianRoot, findCommand, installNode, networkVariables } from '../support/debian.ts'
import { type IsolatedProcess, isolateRoot } from '../support/isolated-root.ts'
import { sendMessage } from '../../contracts/api/message.ts'
import { freePort } from '../support/postgres.ts'

const login = { HOME: '/root', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** A minimal Debian with the Node and the npm of this machine, in a folder. */
interface Machine {
  root: string
  /** Starts a shell command in a folder of the machine. */
  start: (folder: string, command: string) => IsolatedProcess
  /** Ends all processes of the machine and deletes it. */
  remove: () => Promise<void>
}

async function createMachine(): Promise<Machine> {
  const root = await mkdtemp(path.join(tmpdir(), 'waybill-machine-'))
  await createDebianRoot(root)
  await installNode(root, await findCommand('node'))
  const isolated = await isolateRoot(root)
  const environment = { ...login, ...networkVariables() }
  return {
    root,
    start: (folder, command) => isolated.start(['sh', '-c', command], { folder, environment }),
    remove: async () => {
      await isolated.stop()
      await rm(root, { recursive: true, force: true })
    },
  }
}

const repository = path.resolve(import.meta.dirname, '../..')
/** With this file name, the suite also runs `npm test` and writes its JSON report there. */
const report = process.env['NPM_TEST_REPORT']
/** Where a report names the same files as one that is written in this repository. */
const clone = repository

let machine: Machine

beforeAll(async () => {
  machine = await createMachine()
  await mkdir(path.dirname(inMachine(clone)), { recursive: true })
  await git(repository, 'clone', '--quiet', '--no-hardlinks', repository, inMachine(clone))
})

afterAll(() => machine?.remove())

function inMachine(file: string): string {
  return path.join(machine.root, file)
}

async function git(folder: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('git', args, { cwd: folder })
}

interface Finished {
  code: number | null
  output: string
}

async function finish({ outside }: IsolatedProcess): Promise<Finished> {
  const exited = new Promise<number | null>((resolve) => outside.once('exit', resolve))
  const [output, errors, code] = await Promise.all([read(outside.stdout), read(outside.stderr), exited])
  return { code, output: output + errors }
}

async function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : text(stream)
}

/** Runs a command in the clone to its end. */
function run(command: string): Promise<Finished> {
  return finish(machine.start(clone, command))
}

test('npm ci installs without a warning', async () => {
  const { output, code } = await run('node --version && npm ci')

  console.log(output)
  expect(output).not.toMatch(/warn|error/i)
  expect(output.split('\n').length).toBeLessThan(15)
  expect(code).toBe(0)
})

test('npm start serves until a message is read', async () => {
  const port = await freePort()
  const sandbox = machine.start(clone, `PORT=${port} npm start`)
  const finished = finish(sandbox)
  let output = ''
  sandbox.outside.stdout?.on('data', (chunk) => (output += String(chunk)))
  try {
    await expect.poll(() => output.includes('Send a message:') || sandbox.outside.exitCode !== null).toBe(true)
    const [apiKey = ''] = /wb_live_[0-9a-f]{64}/.exec(output) ?? []
    const call = async (method: 'GET' | 'POST', to: string, body?: object) => {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
      const url = `http://127.0.0.1:${port}/api/v1/message/${to}`
      const response = await request(url, { method, headers, body: body && JSON.stringify(body) })
      return (await response.body.json()) as { data: { messageId: string; status: string } }
    }

    const sent = await call('POST', 'send', sendMessage.example.input)
    expect(sent).toMatchObject({ success: true, data: { status: 'sent' } })
    await expect.poll(async () => (await call('GET', sent.data.messageId)).data.status).toBe('read')
  } finally {
    await sandbox.signal('SIGINT', 'group')
  }
  // npm itself ends by the signal.
  expect((await finished).output).toMatch(/^\S+ +order_shipped to \S+: read$/m)
})

// The limit only ends a suite that hangs: beside other tests, it takes several times as long as alone.
test.runIf(report !== undefined)('npm test passes', { timeout: 2_700_000 }, async () => {
  // As in a clone that only `npm ci` ran in.
  await git(inMachine(clone), 'clean', '--quiet', '--force', '-d', '-x', '--exclude=node_modules')
  await rm(inMachine(path.join(clone, 'node_modules/.cache')), { recursive: true, force: true })
  const { output, code } = await run('npm test -- --reporter=default --reporter=json --outputFile.json=/run/test.json')

  console.log(output)
  await cp(inMachine('/run/test.json'), report ?? '')
  expect(code).toBe(0)
})
