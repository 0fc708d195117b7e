import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { syncTemplates } from '../../../src/templates/sync.ts'
import type { Ended } from '../../cli/installation.ts'
import { runHere } from '../../cli/run-command.ts'
import { folderForTest, forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const program = path.resolve(import.meta.dirname, '../../../src/client/cli/main.ts')

const server = await forFile(startTestServer())
let account: TestAccount
let file: string

beforeEach(async () => {
  account = await server.account()
  file = path.join(await folderForTest(), 'templates.d.ts')
})

/** `waybill-client` in a separate process. */
function runClient(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd: path.dirname(file), env: environment },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode, stdout, stderr }),
    )
  })
}

/** The two command lines that write the file. */
const commands = [
  {
    name: 'waybill-client types',
    run: (args: string[], environment: Record<string, string>) => runClient(['types', ...args], environment),
  },
  {
    name: 'waybill types',
    run: (args: string[], environment: Record<string, string>) => runHere(['types', ...args], environment),
  },
]

test.each(commands)(
  '$name writes the approved templates, and a check names what has changed since',
  async ({ run }) => {
    const options = ['--url', server.url, '--output', file]
    const environment = { WAYBILL_API_KEY: account.apiKey }

    expect(await run([...options, '--check'], environment)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/is out of date\.\n[^]* {2}added {4}order_shipped \(en\)\n/),
    })
    const written = await run(options, environment)
    expect(written).toMatchObject({ exitCode: 0, stderr: '' })
    const text = await readFile(file, 'utf8')
    expect(text).toContain('order_shipped: {')
    expect(text).not.toMatch(/spring_sale|loyalty_points/)
    const { items } = await account.trpc.template.list.query({ status: 'APPROVED', limit: 100 })
    for (const { name, sendable } of items) {
      expect(text.includes(` ${name}: {\n`)).toBe(sendable)
      expect(written.stdout.includes(`left out ${name} (`)).toBe(!sendable)
    }
    expect(await run([...options, '--check'], environment)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('is up to date.'),
    })

    await account.template({ name: 'order_lost', components: [{ type: 'BODY', text: 'Sorry, {{1}}.' }] })
    const changed = await run([...options, '--check'], environment)
    expect(changed.exitCode).toBe(1)
    expect(changed.stdout).toMatch(/is out of date\.\n {2}added {4}order_lost \(en\)\n/)
    expect(await readFile(file, 'utf8')).toBe(text)
  },
)

test('reads every page of templates', async () => {
  const names = Array.from({ length: 230 }, (_, index) => `notice_${index}`)
  for (const name of names)
    server.simulator
      .templatesOf(account.wabaId)
      .add({ name, language: 'en', components: [{ type: 'BODY', text: name }] })
  await syncTemplates(server.deps, account.accountId)

  const { exitCode } = await runClient(['types', '--url', server.url, '--output', file], {
    WAYBILL_API_KEY: account.apiKey,
  })

  expect(exitCode).toBe(0)
  const text = await readFile(file, 'utf8')
  expect(names.filter((name) => !text.includes(`    ${name}: {\n`))).toEqual([])
})

test('prints the result as JSON on request', async () => {
  const { stdout } = await runHere(['types', '--url', server.url, '--output', file, '--json'], {
    WAYBILL_API_KEY: account.apiKey,
  })

  expect(JSON.parse(stdout)).toMatchObject({
    output: file,
    templates: expect.any(Number),
    added: expect.arrayContaining(['order_shipped (en)']),
    removed: [],
    changed: [],
  })
})

test.each([
  { problem: 'a key that is missing', args: [], exitCode: 2, says: 'The API key is missing: set WAYBILL_API_KEY.' },
  {
    problem: 'a wrong key',
    args: ['--api-key', 'wb_live_wrong'],
    exitCode: 1,
    says: 'INVALID_API_KEY: Invalid API key.',
  },
  {
    problem: 'a key with a line break',
    args: ['--api-key', 'wb_live\nx'],
    exitCode: 2,
    says: 'The API key must consist',
  },
  {
    problem: 'an address that is none',
    args: ['--url', 'waybill', '--api-key', 'x'],
    exitCode: 2,
    says: '--url must be',
  },
  {
    problem: 'a server that does not answer',
    args: ['--url', 'http://user:password@127.0.0.1:1', '--api-key', 'x'],
    exitCode: 1,
    says: 'No response from Waybill at http://127.0.0.1:1.',
  },
  { problem: 'an unknown option', args: ['--force'], exitCode: 2, says: "Unknown option '--force'" },
])('exits with $exitCode on $problem, and prints no key', async ({ args, exitCode, says }) => {
  const ended = await runClient(['types', '--url', server.url, '--output', file, ...args])

  expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) })
  expect(ended.stderr).not.toMatch(/wb_live|password|at .*\.ts:/)
  await expect(readFile(file)).rejects.toThrow('ENOENT')
})

test.each(['-', '/dev/null', '.'])('rejects the output %s, which is not a file', async (output) => {
  const ended = await runClient(['types', '--url', server.url, '--output', output, '--api-key', account.apiKey])

  expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${output} is not a file`) })
})

test('does not overwrite an unrelated file', async () => {
  await writeFile(file, 'export const precious = 1\n')

  const ended = await runClient(['types', '--url', server.url, '--output', file, '--api-key', account.apiKey])

  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was not written by this command') })
  expect(await readFile(file, 'utf8')).toBe('export const precious = 1\n')
})
