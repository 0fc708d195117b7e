import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startServe } from '../support/process.ts'
import type { LedgerWriter, NodeChange } from './ledger.ts'

const stopMilliseconds = 20_000

/** One Waybill server process. It keeps its address and is restarted after each kill. */
export class ChaosNode {
  readonly url: string
  state: 'down' | 'starting' | 'up' | 'paused' = 'down'
  /** When it started to listen. */
  readyAt = 0
  /** How often it was started. */
  life = 0
  /** The lines of the last process that listened. */
  output: readonly string[] = []
  readonly #index: number
  readonly #environment: Record<string, string>
  readonly #args: string[]
  readonly #journalFolder: string
  readonly #ledger: LedgerWriter
  #child: ChildProcess | undefined
  #stopping = false

  constructor(index: number, port: number, environment: Record<string, string>, args: string[], ledger: LedgerWriter) {
    this.#index = index
    this.#environment = { ...environment, PORT: String(port) }
    this.#args = args
    this.#journalFolder = path.join(environment['WAYBILL_DATA_DIR'] ?? '', 'journal')
    this.#ledger = ledger
    this.url = `http://127.0.0.1:${port}`
  }

  /** Resolves when it listens. Retries a failed start unless the process was killed. */
  async start(): Promise<void> {
    for (;;) {
      const isReady = await this.#startOnce()
      const { life } = this
      if (isReady || this.state !== 'starting') return
      await delay(200)
      if (this.state !== 'starting' || this.life !== life) return
    }
  }

  /** Also true if another start has replaced this one. */
  async #startOnce(): Promise<boolean> {
    this.state = 'starting'
    this.life++
    const life = this.life
    const isMine = () => this.life === life && !this.#stopping
    this.#note('started')
    try {
      const environment = { ...this.#environment, CHAOS_LIFE: `${this.#index} ${life}` }
      const serving = await startServe(environment, this.#args, (child) => (this.#child = child))
      if (!isMine() || this.state !== 'starting') return true
      this.state = 'up'
      this.output = serving.output
      this.readyAt = Date.now()
      this.#note('ready')
      void serving.exited.then(({ code, signal }) => {
        if (!isMine() || this.state === 'down') return
        this.state = 'down'
        this.#note('exited', `code ${code}, signal ${signal}: ${serving.output.slice(-5).join(' | ')}`)
        return this.start()
      })
      return true
    } catch (error) {
      if (!isMine()) return true
      if (this.state === 'starting') this.#note('failed to start', String(error).slice(-600))
      return false
    }
  }

  /** Kills the process in any state, also while it starts or is paused. Resolves to whether there was a process. */
  async kill(): Promise<boolean> {
    const child = this.#child
    this.state = 'down'
    if (!child || child.exitCode !== null || child.signalCode !== null) return false
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    this.#note('killed')
    await exited
    const messageIds = await readMarked(this.#journalFolder, child.pid ?? 0)
    this.#ledger.write({ kind: 'marked', node: this.#index, life: this.life, messageIds })
    return true
  }

  async pause(milliseconds: number): Promise<void> {
    const { life } = this
    this.state = 'paused'
    this.#child?.kill('SIGSTOP')
    this.#note('paused')
    await delay(milliseconds)
    if (this.life !== life || this.state !== 'paused') return
    this.#child?.kill('SIGCONT')
    this.state = 'up'
    this.#note('resumed')
  }

  /** Stops it cleanly, as an operator would. */
  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    this.state = 'down'
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill('SIGINT')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
    const [code, signal] = await exited
    clearTimeout(timer)
    if (code !== 0) this.#note('exited', `code ${code}, signal ${signal} on stop`)
  }

  #note(change: NodeChange, detail?: string): void {
    this.#ledger.write({
      kind: 'node',
      node: this.#index,
      life: this.life,
      change,
      ...(detail !== undefined && { detail }),
    })
  }
}

/**
 * Lists the messages that a dead process had marked as written in its send journal. Parses the file on its own instead
 * of using the code that replays it.
 */
async function readMarked(folder: string, pid: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const journals = await Promise.all(
    // Another process may replay and delete a journal in the meantime.
    names
      .filter((name) => name.endsWith('.journal'))
      .map((name) => readFile(path.join(folder, name), 'latin1').catch(() => '')),
  )
  const own = journals.find((text) => text.startsWith('{') && text.includes(`"pid":${pid}}\n`)) ?? ''
  return [...own.matchAll(/^W (msg_\w+)\n/gm)].map(([, id = '']) => id)
}
