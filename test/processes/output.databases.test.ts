import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEmbeddedInstallation, type Installation } from '../cli/installation.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

let waybill: Installation
let accountId: string
beforeAll(async () => {
  waybill = await createEmbeddedInstallation()
  accountId = (await waybill.json(['account', 'create', '--name', 'Shop'])).accountId
  await waybill.json(['key', 'generate', accountId])
})
afterAll(() => waybill.remove())

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

test.runIf(process.platform === 'linux')('serves, and ends, although its log cannot be written', async () => {
  const script = 'exec "$@" 2> /dev/full'
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, entry, 'serve'], {
    env: { ...waybill.environment, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  const [url = ''] = /http:\S+/.exec(String(line)) ?? []

  // Its start has logged warnings.
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
