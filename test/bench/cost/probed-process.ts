import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RunningProcess, type StartOptions, startProcess } from '../start-process.ts'

export type ProbeQuestion = 'start' | 'stop' | 'count statements' | 'statements'
export type ProbeAnswer = Usage | { statements: Record<string, number> } | Record<string, never>

/** What a process has used between two moments. Times are in microseconds. */
interface Usage {
  /** Allocated in V8's heap. */
  bytes: number
  mainThread: number
  /** All threads. */
  process: number
  fullCollections: number
}

/** A server process that reports its own cost. */
export interface ProbedProcess extends RunningProcess {
  start(): Promise<void>
  stop(): Promise<Usage>
  countStatements(): Promise<void>
  /** The number of executions of each statement since `countStatements`, by name. */
  readStatements(): Promise<Record<string, number>>
}

const probe = pathToFileURL(path.join(import.meta.dirname, 'probe.ts')).href

export async function startProbed(script: string, options: StartOptions): Promise<ProbedProcess> {
  let child: ChildProcess | undefined
  const running = await startProcess(script, {
    ...options,
    nodeArgs: [...(options.nodeArgs ?? []), '--import', probe],
    onSpawn: (spawned) => void (child = spawned),
  })
  const ask = async (question: ProbeQuestion) => {
    if (!child) throw new Error('the process has not started')
    const answer = once(child, 'message')
    child.send(question)
    return (await answer)[0] as unknown
  }
  return {
    ...running,
    start: async () => void (await ask('start')),
    // Answers of probe.ts, which only this file starts.
    stop: async () => (await ask('stop')) as Usage,
    countStatements: async () => void (await ask('count statements')),
    readStatements: async () => ((await ask('statements')) as { statements: Record<string, number> }).statements,
  }
}
