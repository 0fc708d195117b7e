import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { request } from 'undici'
import { patience } from './patience.ts'

const ourRoot = path.resolve(import.meta.dirname, '../..')
const startMilliseconds = patience.hookTimeout / 2

const children = new Set<ChildProcess>()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** Vitest stops nothing that a file has started if `-t` skips all of its tests. So a process ends with its worker. */
export function endWithWorker(child: ChildProcess): void {
  children.add(child)
  child.once('exit', () => children.delete(child))
}

/** A `waybill serve` process, as an operator runs it. */
export interface ServeProcess {
  url: string
  pid: number
  /** All output of both streams. */
  output: string[]
  send(
    apiKey: string,
    body: object,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<{ statusCode: number; body: SendAnswer }>
  get(path: string, apiKey?: string): Promise<{ statusCode: number; text: string }>
  /** Sends a signal; `exited` resolves when the process has ended. */
  kill(signal: NodeJS.Signals): void
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

interface SendAnswer {
  success: boolean
  data?: { messageId: string; waMessageId: string; status: string }
  error?: { code: string; message: string }
}

/**
 * Resolves when the process listens. `onSpawn` receives it earlier, for tests that kill it while it starts. `root` is
 * another version.
 */
export async function startServe(
  environment: Record<string, string>,
  args: string[] = [],
  onSpawn: (child: ChildProcess) => void = () => {},
  root: string = ourRoot,
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [path.join(root, 'src/cli/waybill.js'), 'serve', ...args], {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithWorker(child)
  onSpawn(child)
  const output: string[] = []
  const exited = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }))
  const url = await findUrl(child, output)
  return {
    url,
    pid: child.pid ?? 0,
    output,
    send: async (apiKey, body, headers = {}, signal?: AbortSignal) => {
      const response = await request(`${url}/api/v1/message/send`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal,
      })
      return { statusCode: response.statusCode, body: (await response.body.json()) as SendAnswer }
    },
    get: async (to, apiKey) => {
      const response = await request(url + to, { headers: apiKey === undefined ? {} : { 'x-api-key': apiKey } })
      return { statusCode: response.statusCode, text: await response.body.text() }
    },
    kill: (signal) => void child.kill(signal),
    exited,
  }
}

function findUrl(child: ChildProcess, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = () => {
      clearTimeout(timer)
      // A slow process would otherwise keep its port and data folder.
      child.kill('SIGKILL')
      reject(new Error(`waybill serve did not start:\n${output.join('\n')}`))
    }
    const timer = setTimeout(fail, startMilliseconds)
    child.once('exit', fail)
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
        if (url === undefined) return
        clearTimeout(timer)
        child.off('exit', fail)
        resolve(url)
      })
    }
  })
}

/**
 * Reports a missing requirement of a test. `.ci/run` requires every program to be installed, so there it is a failure;
 * elsewhere the test is skipped.
 */
export function reportMissing(what: string, missing: string): void {
  const text = `${what} needs ${missing}`
  if (process.env['REQUIRE_TOOLCHAINS'] === 'true') throw new Error(text)
  console.warn(`Skipped: ${text}.`)
}
