import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Target } from './target.ts'

export interface LoadOptions {
  /** Each gets its share of the connections. */
  targets: Target[]
  connections: number
  /** Seconds of load before anything is counted. */
  warmUpSeconds: number
  seconds: number
  /** More is asked of the server than it can do, and it may say so. */
  mayRefuse?: boolean
}

export interface LoadResult {
  /** Answers per second. */
  perSecond: number
  /** Milliseconds from the request's first byte out to the answer's last byte in. */
  p50: number
  p99: number
  /** Every answer, those outside the measured time too. */
  answered: number
  /** Share of one core that the load generator itself took. */
  busy: number
}

const script = path.join(import.meta.dirname, 'load.ts')

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
  return JSON.parse(stdout) as LoadResult
}
