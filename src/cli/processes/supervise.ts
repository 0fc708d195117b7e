import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../platform/log.ts'
import { untilStopped } from '../until-stopped.ts'
import { FromProcess, numberVariable, type ToProcess } from './ipc-messages.ts'

/** A process that dies sooner after its start is replaced with an increasing delay. */
const stableMilliseconds = 10_000
const maxDelayMilliseconds = 30_000
/** Exceeds the longest request, which a stopping process finishes. */
const maxStopMilliseconds = 35_000
const metricsTimeoutMilliseconds = 2_000

export interface Supervision {
  processes: number
  log: Logger
  /** Called once all processes listen for the first time. */
  whenListening: (url: string) => void
}

/**
 * Runs server processes on one port until a signal stops them, and returns the exit code. This process serves
 * nothing itself: it opens the port, replaces a process that dies and, at SIGHUP, all of them one after the other.
 */
export async function supervise({ processes, log, whenListening }: Supervision): Promise<number> {
  // The processes accept connections themselves. In Node's default, the supervisor accepts them and hands them over, and
  // keeps those open that it has handed to a process that is killed before it takes them.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const signal = untilStopped(['SIGINT', 'SIGTERM'])
  const supervisor = new Supervisor(log)
  let starting: Promise<Started> | undefined
  // Before the start, because SIGHUP would otherwise end this process without the others.
  process.on('SIGHUP', () => void starting?.then((started) => ('url' in started ? supervisor.replaceAll() : undefined)))
  starting = supervisor.start(processes)
  const first = await Promise.race([starting, signal])
  if (typeof first === 'object' && 'exitCode' in first) {
    await supervisor.stop('SIGTERM')
    return first.exitCode
  }
  if (typeof first === 'object') whenListening(first.url)
  return supervisor.stop(await signal)
}

/** The result of starting a process. */
type Started = { url: string } | { exitCode: number }

interface Slot {
  number: number
  worker: Worker
  startedAt: number
  /** Number of consecutive processes that died soon after their start. */
  quickDeaths: number
}

class Supervisor {
  readonly #log: Logger
  /** By number. */
  readonly #slots = new Map<number, Slot>()
  #replaced = 0
  readonly #stopping = new AbortController()
  #replacing = Promise.resolve()

  constructor(log: Logger) {
    this.#log = log
    cluster.on('message', (worker, message: unknown) => {
      const { data } = FromProcess.safeParse(message)
      if (data?.type === 'metrics') void this.#collectMetrics(worker, data.id)
    })
  }

  /** Resolves once all processes listen, or when the first of them ends. */
  async start(processes: number): Promise<Started> {
    const slots = Array.from({ length: processes }, (_, index) => this.#fork(index + 1))
    const { promise, resolve } = Promise.withResolvers<Started>()
    const starting = slots.map(async (slot) => {
      const started = await untilListening(slot.worker)
      if ('exitCode' in started) resolve(started)
      else this.#replaceIfItDies(slot)
      return started
    })
    void Promise.all(starting).then(([started]) => started && resolve(started))
    return promise
  }

  /** Replaces the processes without a gap, so that a new version of the code or a new secret file takes effect. */
  replaceAll(): Promise<void> {
    this.#replacing = this.#replacing.then(async () => {
      for (const before of this.#slots.values()) {
        if (this.#stopping.signal.aborted) return
        const slot = this.#fork(before.number)
        const started = await untilListening(slot.worker)
        if ('exitCode' in started) {
          this.#slots.set(before.number, before)
          if (before.worker.isDead()) void this.#replace(before)
          this.#log.error(
            { process: before.number, ...started },
            'new process failed to start; keeping the old processes',
          )
          return
        }
        this.#replaceIfItDies(slot)
        // Before the next one is started, so that at most one extra process is connected to the database.
        await stopWorker(before.worker, 'retired')
      }
      this.#log.info({ processes: this.#slots.size }, 'replaced all processes')
    })
    return this.#replacing
  }

  async stop(because: 'SIGINT' | 'SIGTERM'): Promise<number> {
    this.#stopping.abort()
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    const codes = await Promise.all(workers.map((worker) => stopWorker(worker, because)))
    return codes.find((code) => code !== 0) ?? 0
  }

  #fork(number: number): Slot {
    const worker = cluster.fork({ [numberVariable]: String(number) })
    const slot = { number, worker, startedAt: performance.now(), quickDeaths: 0 }
    this.#slots.set(number, slot)
    return slot
  }

  #replaceIfItDies(slot: Slot): void {
    slot.worker.once('exit', (exitCode: number | null, signal: string | null) => {
      // A retired process already has a successor.
      if (this.#stopping.signal.aborted || this.#slots.get(slot.number) !== slot) return
      const { pid } = slot.worker.process
      this.#log.error({ process: slot.number, pid, exitCode, signal }, 'process exited; replacing it')
      void this.#replace(slot)
    })
  }

  async #replace(dead: Slot): Promise<void> {
    const { number, startedAt, quickDeaths } = dead
    const { signal } = this.#stopping
    const isQuick = performance.now() - startedAt < stableMilliseconds
    // The timer also keeps the supervisor alive while no server process runs.
    const milliseconds = Math.min(1_000 * 2 ** quickDeaths, maxDelayMilliseconds)
    if (isQuick) await delay(milliseconds, undefined, { signal }).catch(() => {})
    // SIGHUP may have filled the slot in the meantime.
    if (signal.aborted || this.#slots.get(number) !== dead) return
    this.#replaced++
    const slot = this.#fork(number)
    slot.quickDeaths = isQuick ? quickDeaths + 1 : 0
    this.#replaceIfItDies(slot)
  }

  async #collectMetrics(requester: Worker, id: number): Promise<void> {
    const workers = [...this.#slots.values()].map(({ worker }) => worker)
    const parts = await Promise.all(workers.map((worker) => askForMetrics(worker)))
    sendTo(requester, {
      type: 'metrics',
      id,
      parts: parts.filter((part) => part !== undefined),
      replaced: this.#replaced,
    })
  }
}

function untilListening(worker: Worker): Promise<Started> {
  return new Promise((resolve) => {
    worker.once('exit', (exitCode: number | null) => resolve({ exitCode: exitCode ?? 1 }))
    worker.on('message', (message: unknown) => {
      const { data } = FromProcess.safeParse(message)
      if (data?.type === 'listening') resolve({ url: data.url })
    })
  })
}

/** Returns the exit code. A process that does not end in time is killed. */
async function stopWorker(worker: Worker, because: 'SIGINT' | 'SIGTERM' | 'retired'): Promise<number> {
  if (worker.isDead()) return 0
  const { promise, resolve } = Promise.withResolvers<number>()
  worker.once('exit', (exitCode: number | null) => resolve(exitCode ?? 1))
  sendTo(worker, { type: 'stop', because })
  const deadline = setTimeout(() => worker.process.kill('SIGKILL'), maxStopMilliseconds)
  const exitCode = await promise
  clearTimeout(deadline)
  return exitCode
}

let lastId = 0

/** Returns undefined if the process does not respond in time, so that the others are still reported. */
async function askForMetrics(worker: Worker) {
  const id = ++lastId
  const { promise, resolve } = Promise.withResolvers<Extract<FromProcess, { type: 'part' }>['part'] | undefined>()
  const receive = (message: unknown) => {
    const { data } = FromProcess.safeParse(message)
    if (data?.type === 'part' && data.id === id) resolve(data.part)
  }
  const timer = setTimeout(() => resolve(undefined), metricsTimeoutMilliseconds)
  worker.on('message', receive)
  sendTo(worker, { type: 'collect', id })
  const part = await promise
  clearTimeout(timer)
  worker.off('message', receive)
  return part
}

/** Ignores a process that has just died: its exit is handled separately. */
function sendTo(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
