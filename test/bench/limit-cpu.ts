import { spawnSync } from 'node:child_process'

/** Short compared with the latency of a request, so that the limit causes no noticeable waits. */
const periodNanoseconds = 10_000_000

export function canLimitCpu(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0 && !spawnSync('chrt', ['--version']).error
}

/**
 * Limits the main thread of a process to a share of a core until it ends, with the scheduling policy `SCHED_DEADLINE` of
 * Linux (sched(7)). The kernel grants the share in each period, while a program such as `cpulimit` stops the process for
 * longer than a request takes.
 */
export function limitCpu(pid: number, percent: number): void {
  const period = String(periodNanoseconds)
  const runtime = String((periodNanoseconds * percent) / 100)
  const policy = ['--deadline', '--reset-on-fork', '--sched-period', period, '--sched-deadline', period]
  const { status, stderr } = spawnSync('chrt', [...policy, '--sched-runtime', runtime, '--pid', '0', String(pid)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the CPU time of process ${pid} could not be limited: ${stderr}`)
}
