import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export const root = path.resolve(import.meta.dirname, '../..')

/** A server in its own process, so that each side has its own event loop and heap. */
export interface RunningProcess extends AsyncDisposable {
  url: string
  pid: number
}

export interface StartOptions {
  args?: string[]
  environment?: Record<string, string>
  /** The checkout whose script is started. */
  root?: string
  /** Options of Node itself. */
  nodeArgs?: string[]
  /** Opens a channel for messages and receives the process at once. */
  onSpawn?: (child: ChildProcess) => void
}

const running = new Set<ChildProcess>()
// A run that fails, or whose output is closed by `head`, leaves no server behind.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Resolves when the process has printed its address. Its standard error is passed through. */
export async function startProcess(
  script: string,
  { args = [], environment = {}, root: checkout = root, nodeArgs = [], onSpawn }: StartOptions = {},
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...nodeArgs, path.join(checkout, script), ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit', ...(onSpawn ? (['ipc'] as const) : [])],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  onSpawn?.(child)
  const { stdout } = child
  if (!stdout) throw new Error(`${script} was started without an output`)
  const exited = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const [address] = /http:\/\/[\d.]+:\d+/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
    exited.then(([code]) => reject(new Error(`${script} ended with code ${code} before it listened`)), reject)
  })
  return {
    url,
    // Defined, since the process has printed its address.
    pid: child.pid ?? NaN,
    [Symbol.asyncDispose]: async () => {
      // On SIGTERM, a server would first wait for its load balancer.
      child.kill('SIGINT')
      await exited
    },
  }
}

/** The resident memory of a process, as an operator sees it. */
export async function readResidentBytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) * 1024
}

/** The most resident memory that a process has taken so far; Linux only. */
export async function readPeakBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

/** Loads a module from a checkout, whose code fits its own schema. Tries the given paths in order. */
export function load<Module>(checkout: string, ...files: string[]): Promise<Module> {
  const candidates = files.map((file) => path.resolve(checkout, 'test/bench', file))
  const found = candidates.find((candidate) => existsSync(candidate))
  if (found === undefined) throw new Error(`${checkout} contains none of ${files.join(', ')}`)
  return import(pathToFileURL(found).href) as Promise<Module>
}

const everyMilliseconds = 20
const atMostMilliseconds = 60_000

/** Polls until the condition is true; throws on a timeout. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > atMostMilliseconds) throw new Error('the condition was not met in time')
    await delay(everyMilliseconds)
  }
}
