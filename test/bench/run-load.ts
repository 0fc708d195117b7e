import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Target } from './target.ts'

export interface LoadOptions {
  /** The connections are divided evenly between the targets. */
  targets: Target[]
  connections: number
  /** Seconds of load before measuring. */
  warmUpSeconds: number
  seconds: number
  /** Expects 503 responses, since the load exceeds the server's limit. */
  mayRefuse?: boolean
}

export interface LoadResult {
  /** Responses per second. */
  perSecond: number
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  p50: number
  p99: number
  /** All responses, including those outside the measured time. */
  answered: number
  /** The load generator's share of one core. */
  busy: number
}

const script = path.join(import.meta.dirname, 'load.ts')

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
  return JSON.parse(stdout) as LoadResult
}
