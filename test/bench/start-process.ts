import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

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

/** Resolves when the process has printed its address. Its standard error is passed through. */
export async function startProcess(
  script: string,
  { args = [], environment = {}, root: checkout = root, nodeArgs = [], onSpawn }: StartOptions = {},
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...nodeArgs, path.join(checkout, script), ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit', ...(onSpawn ? (['ipc'] as const) : [])],
  })
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
