import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Debian's `cpulimit` stops and continues a process, so that it uses this share of a core on average. */
const program = 'cpulimit'

export function canLimitCpu(): boolean {
  return spawnSync(program, ['--help']).error === undefined
}

/** Limits a process until the result is disposed of. Dispose of it before stopping the process: a limited one stops slowly. */
export function limitCpu(pid: number, percent: number): AsyncDisposable {
  const limiter = spawn(program, ['--limit', String(percent), '--pid', String(pid)], { stdio: 'ignore' })
  const exited = once(limiter, 'exit')
  return {
    [Symbol.asyncDispose]: async () => {
      limiter.kill('SIGINT')
      await exited
    },
  }
}
