import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { readOrCreateSecretKey } from '../../src/platform/config.ts'
import { openTestDatabase } from '../support/database.ts'
import { endWithWorker } from '../support/process.ts'
import { runHere } from './run-command.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')
/** Optimized compilation of the embedded database would take longer than most of these processes run. */
const nodeOptions = ['--liftoff-only']

/** Commands that lock the data folder themselves, also while a server runs. */
const holders = new Set(['serve', 'sandbox', 'move'])

export interface Ended {
  exitCode: number | null
  stdout: string
  stderr: string
}

/** Fields that commands may print; each test names those it expects. */
interface Printed {
  accountId: string
  name: string
  whatsAppAccountId: string
  apiKey: string
  start: string
  allowList: string[]
  items: Record<string, unknown>[]
}

interface RunOptions {
  stdin?: string
  env?: NodeJS.ProcessEnv
  /** Always starts a process, for tests of what a process itself reads or writes. */
  ownProcess?: boolean
}

/** An installation of Waybill for one test: real processes in an otherwise empty environment. */
export interface Installation {
  dataDir: string
  /** The environment of its processes. */
  environment: NodeJS.ProcessEnv
  /**
   * A command without input needs no separate process if it locks no data folder: on PostgreSQL, or while a server of
   * this installation holds the folder and runs the command.
   */
  run(args: string[], options?: RunOptions): Promise<Ended>
  /** Returns the output of a command with `--json` and fails unless it succeeds. */
  json(args: string[], options?: RunOptions): Promise<Printed>
  /** Resolves when the server listens. */
  serve(options?: { args?: string[]; env?: NodeJS.ProcessEnv }): Promise<RunningServer>
  remove(): Promise<void>
}

export interface RunningServer {
  url: string
  pid: number
  /** All output so far. */
  stdout(): string
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Uses the database of the vitest project: embedded or its own PostgreSQL database. */
export async function createInstallation(graphApiUrl = 'http://127.0.0.1:9'): Promise<Installation> {
  if (inject('database').kind === 'pglite') return createEmbeddedInstallation({ GRAPH_API_URL: graphApiUrl })
  const database = await openTestDatabase()
  const installation = await createEmbeddedInstallation({
    GRAPH_API_URL: graphApiUrl,
    DATABASE_URL: database.url,
    WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
  })
  const remove = async () => {
    await installation.remove()
    await database.close()
  }
  return { ...installation, remove }
}

/** The secret with which WhatsApp signs the callbacks of an installation. */
export const metaAppSecret = 'a1'.repeat(16)

export async function createEmbeddedInstallation(
  more: NodeJS.ProcessEnv = {},
  { folderName = 'data', fresh = false }: { folderName?: string; fresh?: boolean } = {},
): Promise<Installation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-cli-'))
  const dataDir = path.join(folder, folderName)
  if (!fresh) {
    readOrCreateSecretKey(dataDir)
    await unpackTemplate(path.join(dataDir, 'pgdata'))
  }
  const environment = {
    PATH: process.env['PATH'],
    WAYBILL_DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    // Without these, the server warns at its start.
    META_APP_SECRET: metaAppSecret,
    META_VERIFY_TOKEN: 'test-verify-token',
    ...more,
  }
  const children = new Set<ChildProcessByStdio<Writable, Readable, Readable>>()
  const serving = new Set<ChildProcessByStdio<Writable, Readable, Readable>>()

  function start(args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [...nodeOptions, entry, ...args], {
      env: { ...environment, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    endWithWorker(child)
    children.add(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
    const ended = once(child, 'close').then(() => {
      children.delete(child)
      serving.delete(child)
      return { exitCode: child.exitCode, ...output }
    })
    return { child, output, ended }
  }

  async function run(
    args: string[],
    { stdin, env = {}, ownProcess = stdin !== undefined }: RunOptions = {},
  ): Promise<Ended> {
    const here: NodeJS.ProcessEnv = { ...environment, ...env }
    const [command = ''] = args
    const isEmbedded = command === 'sandbox' || !here['DATABASE_URL']
    const locksFolder = isEmbedded && (serving.size === 0 || holders.has(command))
    if (!locksFolder && !ownProcess) return runHere(args, here)
    const { child, ended } = start(args, env)
    child.stdin.end(stdin)
    return ended
  }

  return {
    dataDir,
    environment,
    run,
    json: async (args, options = {}) => {
      const { exitCode, stdout, stderr } = await run([...args, '--json'], options)
      if (exitCode !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${exitCode}: ${stderr}`)
      return JSON.parse(stdout)
    },
    serve: async ({ args = ['serve', '--json'], env } = {}) => {
      const { child, output, ended } = start(args, env)
      const ready = Promise.withResolvers<void>()
      child.stdout.on('data', () => output.stdout.endsWith('\n') && ready.resolve())
      const early = ended.then(({ exitCode, stderr }) => {
        throw new Error(`the server ended with ${exitCode}: ${stderr}`)
      })
      await Promise.race([ready.promise, early])
      early.catch(() => undefined)
      serving.add(child)
      return {
        url: /https?:\/\/[\d.]+:\d+/.exec(output.stdout)?.[0] ?? '',
        pid: child.pid ?? 0,
        stdout: () => output.stdout,
        stop: (signal = 'SIGTERM') => {
          serving.delete(child)
          child.kill(signal)
          return ended
        },
      }
    },
    remove: async () => {
      for (const child of children) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Opening a copy of the template's files takes a third of the time of creating a new database. */
async function unpackTemplate(folder: string): Promise<void> {
  const source = inject('database')
  if (source.kind !== 'pglite') return
  await mkdir(folder, { recursive: true })
  await promisify(execFile)('tar', ['-xf', source.template, '-C', folder])
}
