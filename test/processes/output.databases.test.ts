import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { codeOf } from '../../src/platform/error-code.ts'
import { createEmbeddedInstallation } from '../cli/installation.ts'
import { forFile } from '../support/lifetime.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

const waybill = await forFile(createEmbeddedInstallation())
const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
await waybill.json(['key', 'generate', accountId])

/** Runs a command whose standard output is a device that is always full. */
function runOnFullDisk(args: readonly string[]): Promise<{ exitCode: number; stderr: string }> {
  const script = 'exec "$@" > /dev/full'
  return new Promise((resolve) => {
    const child = execFile(
      'sh',
      ['-c', script, 'sh', process.execPath, entry, ...args],
      { env: waybill.environment },
      (_error, _stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stderr }),
    )
  })
}

test.runIf(process.platform === 'linux').each([
  {
    args: ['key', 'regenerate'],
    says: /ENOSPC.*API key is valid, but cannot be shown again.*waybill key regenerate acc_/,
  },
  { args: ['webhook', 'add', '--url', 'https://8.8.8.8/'], says: /ENOSPC.*waybill webhook rotate-secret ep_/ },
  { args: ['owner', 'invite', '--email', 'ada@example.com'], says: /ENOSPC.*run the same command again/ },
  { args: ['key', 'revoke'], says: /ENOSPC.*has ended successfully/ },
])('fails and says what is lost if the output of $args cannot be written', async ({ args, says }) => {
  const [group = '', command = '', ...options] = args
  const { exitCode, stderr } = await runOnFullDisk([group, command, accountId, ...options])
  expect(stderr).toMatch(says)
  expect(exitCode).toBe(1)
})

test.runIf(process.platform === 'linux').each([['--help'], ['--version'], ['account', 'list']])(
  'fails if the output of %s cannot be written',
  async (...args) => {
    expect(await runOnFullDisk(args)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ENOSPC') })
  },
)

/** Runs a command whose reader has closed the pipe, as `head` does when it has read enough. */
async function runWithClosedPipe(args: readonly string[]): Promise<{ exitCode: number | null; stderr: string }> {
  const child = spawn(process.execPath, [entry, ...args], {
    env: waybill.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { exitCode: child.exitCode, stderr }
}

test('ends silently if the reader closes the pipe', async () => {
  const silent = { exitCode: 1, stderr: '' }
  expect(await runWithClosedPipe(['account', 'list'])).toEqual(silent)
  // Prints while it runs.
  expect(await runWithClosedPipe(['account', 'export', accountId])).toEqual(silent)
  expect(await runWithClosedPipe(['key', 'regenerate', accountId])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('waybill key regenerate acc_'),
  })

  const server = await waybill.serve()
  expect(await runWithClosedPipe(['account', 'export', accountId])).toEqual(silent)
  await server.stop()
})

/** A pipe that is full, and whose reader does not read. */
async function openStuckPipe(): Promise<{ path: string; close(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-pipe-'))
  const pipe = path.join(folder, 'pipe')
  await promisify(execFile)('mkfifo', [pipe])
  const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  const fill = (size: number) => {
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(size))
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error
    }
  }
  fill(4096)
  fill(1)
  return {
    path: pipe,
    close: async () => {
      closeSync(descriptor)
      await rm(folder, { recursive: true })
    },
  }
}

test.runIf(process.platform === 'linux').each([
  { log: 'a full disk', open: () => Promise.resolve({ path: '/dev/full', close: () => Promise.resolve() }) },
  { log: 'a pipe whose reader has stopped', open: openStuckPipe },
])('serves, and ends, although its log cannot be written to $log', async ({ open }) => {
  const log = await open()
  const script = 'exec "$@" 2> "$LOG"'
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, entry, 'serve'], {
    env: { ...waybill.environment, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'debug', LOG: log.path },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await log.close()
  })
  const ended = once(child, 'exit')
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  const [url = ''] = /http:\S+/.exec(String(line)) ?? []

  // Its start has logged warnings.
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
