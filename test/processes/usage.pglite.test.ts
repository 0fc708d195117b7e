import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { createEmbeddedInstallation, type Ended } from '../cli/installation.ts'
import { folderForTest, forFile } from '../support/lifetime.ts'

const waybill = await forFile(createEmbeddedInstallation())
afterEach(() => vi.restoreAllMocks())

/** Runs a command in this process, to save the time that a new process takes to start. */
async function runCommand(words: string[]): Promise<Ended> {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  const error = vi.spyOn(console, 'error').mockReturnValue()
  const exitCode = await main(words, {})
  return { exitCode, stdout: log.mock.calls.join('\n'), stderr: error.mock.calls.join('\n') }
}

test.each([
  { args: ['account', 'create'], says: '--name NAME is missing' },
  { args: ['account', 'create', '--nmae', 'Shop'], says: 'Unknown option --nmae. Did you mean --name?' },
  { args: ['account', 'create', '-x'], says: 'Unknown option -x.\n' },
  { args: ['account', 'create', '--toString'], says: 'Unknown option --toString.\n' },
  { args: ['account', 'create', 'Shop'], says: 'account create takes none. Pass the NAME with --name.' },
  { args: ['account', 'list', '--json=yes'], says: '--json takes no value.' },
  {
    args: ['account', 'create', '--name'],
    says: 'The value of --name is missing. If it begins with a dash, write --name=NAME.',
  },
  { args: ['account', 'update', 'acc_1', '--api', 'off'], says: '--api must be enabled or disabled' },
  { args: ['account', 'update', 'acc_1', '--rate-limit', 'many'], says: '--rate-limit must be a whole number' },
  { args: ['key', 'generate'], says: 'ACC is missing' },
  { args: ['key', 'generate', 'acc_1', 'acc_2'], says: 'Too many arguments: key generate takes ACC' },
  { args: ['message', 'list', 'acc_1', '--status', 'gone'], says: '--status must be' },
  { args: ['serve', '--role', 'boss'], says: '--role must be all, api, or worker' },
  { args: ['serve', '--memory', 'huge'], says: '--memory must be normal or large' },
  { args: ['move', '--to', 'mysql://db.example.com'], says: '--to must' },
])('rejects $args with exit code 2: $says', async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await runCommand([...args, '--json'])

  expect(exitCode).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(says)
  expect(stderr).toContain(`Usage:\n  waybill ${args[0]}`)
})

test('reports missing standard input for an option that reads it', async () => {
  const add = ['whatsapp', 'add', 'acc_1', '--phone-number-id', '1', '--waba-id', '2', '--access-token', '-']

  const { exitCode, stderr } = await waybill.run([...add, '--app-secret', '-'], { stdin: 'EAAonly\n' })

  expect(exitCode).toBe(2)
  expect(stderr).toContain('--app-secret - requires a line on standard input, but there was none')
  expect(stderr).not.toContain('EAAonly')
})

test.each([
  { args: ['nonsense'], says: /^Unknown command "nonsense". Commands start with serve, .*key.*\.\nRun waybill --help/ },
  { args: ['key'], says: /^Unknown command "key".\n\nCommands:\n {2}key generate {2}/ },
  { args: ['key', 'nonsense'], says: /^Unknown command "key nonsense".\n\nCommands:\n {2}key generate {2}/ },
  { args: ['key', 'generat'], says: /Did you mean "waybill key generate"\?/ },
  { args: ['templates', 'sync', 'acc_1'], says: /Did you mean "waybill template sync"\?/ },
  { args: ['doctro'], says: /^Unknown command "doctro". Did you mean "waybill doctor"\?/ },
  { args: ['webhok'], says: /Did you mean "waybill webhook"\?/ },
  { args: ['list', 'accounts'], says: /^Unknown command "list". Did you mean "waybill account list"\?/ },
])('exits with 2 for an unknown command and suggests what is closest: $args', async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await runCommand(args)

  expect(exitCode).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toMatch(says)
})

test.each([
  { args: ['help'], prints: /^Usage:\n {2}waybill <command>/ },
  { args: ['help', 'key'], prints: /\nCommands:\n {2}key generate/ },
  { args: ['help', 'key', 'generate'], prints: /\nUsage:\n {2}waybill key generate ACC/ },
  { args: ['version'], prints: /^\d+\.\d+\.\d+$/ },
  { args: ['-v'], prints: /^\d+\.\d+\.\d+$/ },
])('prints help and version for $args, as other command lines do', async ({ args, prints }) => {
  const { exitCode, stdout, stderr } = await runCommand(args)

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(prints)
})

test('documents every command with an example', async () => {
  const { stdout: list } = await runCommand(['--help'])
  const names = [...list.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?) {2,}\S/gm)].map(([, name = '']) => name)

  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    vi.restoreAllMocks()
    const { exitCode, stdout } = await runCommand([...name.split(' '), '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`Usage:\n  waybill ${name}[^]*Examples:\n  .*(waybill|npm)`))
  }
})

test.each(['invite', 'list', 'remove', 'reset-password'])('member %s is an alias of owner %s', async (name) => {
  const { exitCode, stdout } = await runCommand(['member', name, '--help'])

  expect(exitCode).toBe(0)
  expect(stdout).toContain(`Usage:\n  waybill owner ${name} ACC`)
  expect(stdout).toContain(`Alias:\n  waybill member ${name}`)
})

test('lists the owner commands under member', async () => {
  const { exitCode, stdout } = await runCommand(['member', '--help'])

  expect(exitCode).toBe(0)
  expect(stdout.match(/^ {2}owner /gm)).toHaveLength(4)
  expect(stdout).not.toMatch(/^ {2}(key|webhook) /m)
})

test('warns about shell history in the help of commands that accept secrets', async () => {
  const { stdout } = await runCommand(['whatsapp', 'add', '--help'])

  expect(stdout).toMatch(/secret on the command line stays in the history/)
})

test('exits with the code and prints the error only on standard error', async () => {
  expect(await waybill.run(['account', 'create', '--json'])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: '--name NAME is missing.\n\nUsage:\n  waybill account create --name NAME [--json]\n',
  })
})

test('explains which command to run on an old Node.js version', async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`
  const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

  const failed = await promisify(execFile)(process.execPath, ['--import', `data:text/javascript,${old}`, entry]).catch(
    (error: unknown) => error,
  )

  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('npm run waybill -- ') })
})

test('writes and checks openapi.json', async () => {
  const folder = await folderForTest()
  const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')
  const openapi = (...args: string[]) =>
    promisify(execFile)(process.execPath, [entry, 'openapi', ...args], { cwd: folder })

  await expect(openapi('--check')).rejects.toMatchObject({ code: 1 })
  await openapi()
  expect(JSON.parse((await openapi('--check', '--json')).stdout)).toEqual({
    file: 'openapi.json',
    written: false,
    current: true,
  })
  const file = path.join(folder, 'openapi.json')
  const document = await readFile(file, 'utf8')
  expect(document.endsWith('}\n')).toBe(true)
  expect(JSON.parse(document)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
  await writeFile(file, document.replace('Waybill', 'Waybil'))
  await expect(openapi('--check')).rejects.toMatchObject({ code: 1 })
})

test.each([
  { script: 'waybill', package: 'waybill', suggested: 'npm run waybill -- account create' },
  { script: 'start', package: 'waybill', suggested: 'npm run waybill -- account create' },
  { script: 'start', package: 'shop', suggested: 'one: waybill account create' },
  { script: undefined, package: undefined, suggested: 'one: waybill account create' },
])('suggests "$suggested" if run by the npm script $script of $package', async (ran) => {
  const { stdout } = await waybill.run(['account', 'list'], {
    env: { npm_lifecycle_event: ran.script, npm_package_name: ran.package },
    ownProcess: true,
  })

  expect(stdout).toContain(ran.suggested)
})
