import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning } from '../support/signal-tree.ts'
import { outsideEnvironment } from './run.ts'

/** Far longer than a start takes: it ends a run that hangs. */
const patienceMilliseconds = 120_000

export interface Server {
  /** From the start of the process until it was ready to serve. */
  startMilliseconds: number
  output: () => string
  /** Sends SIGTERM and resolves to the exit code of the command, when its processes have ended. */
  stop: () => Promise<number | null>
}

/** Starts a server process and waits until `/readyz` reports ready. */
export async function startServer(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  environment: Record<string, string> & { PORT: string },
): Promise<Server> {
  const start = performance.now()
  // Its own process group, because npm passes no signal on to what its shell has started.
  const child = spawn(command, args, { cwd: folder, env: { ...outsideEnvironment(), ...environment }, detached: true })
  const written: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => written.push(String(chunk)))
  const exited = once(child, 'exit')
  const output = () => written.join('')
  while (!(await isReady(environment.PORT))) {
    if (child.exitCode !== null || performance.now() - start > patienceMilliseconds) {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      throw new Error(`The server did not start:\n${output()}`)
    }
    await delay(10)
  }
  return {
    startMilliseconds: performance.now() - start,
    output,
    stop: async () => {
      if (child.pid === undefined) return null
      process.kill(-child.pid, 'SIGTERM')
      await exited
      while (isRunning(-child.pid)) await delay(10)
      return child.exitCode
    },
  }
}

async function isReady(port: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  return response?.status === 200
}
