import { spawnSync } from 'node:child_process'
import { findPostmaster, readCpuTime, readPostgresCpuTime } from './cpu-time.ts'
import { type Row, type Sides, summarize } from './row.ts'
import { type RepeatedRequest, runLoad } from './run-load.ts'
import type { Stage } from './stage.ts'

const connections = 256

interface Measured {
  pid: number
  target: RepeatedRequest
}

/** Microseconds per send. */
interface Cost {
  process: number
  postgres: number
}

/**
 * Compares CPU time per send, which depends less on other load of the machine than sends per second. PostgreSQL's time
 * is that of the whole server, so the sides run alternately.
 */
export async function compareCpu(
  stage: Stage,
  sides: Sides<Measured>,
  { of, goals }: { of: string; goals: Partial<Cost> },
): Promise<Row[]> {
  const postmaster = await findPostmaster(stage.adminUrl)
  const { count, seconds, firstWarmUpSeconds } = stage.rounds
  // The count of responses includes those of the warm-up, so the cost does too.
  const load = ({ target }: Measured, warmUpSeconds: number) =>
    runLoad({ targets: [target], connections, warmUpSeconds, seconds })
  const measure = async (side: Measured): Promise<Cost> => {
    const read = async () => ({ process: await readCpuTime(side.pid), postgres: await readPostgresCpuTime(postmaster) })
    const before = await read()
    const { answered } = await load(side, seconds)
    const after = await read()
    return {
      process: (after.process - before.process) / answered,
      postgres: (after.postgres - before.postgres) / answered,
    }
  }
  // On a busy machine, a cold server can take longer than a round for its first responses.
  for (const side of [sides.ours, sides.other]) await load(side, 3 * firstWarmUpSeconds)
  const rounds: Sides<Cost>[] = []
  while (rounds.length < count) rounds.push({ ours: await measure(sides.ours), other: await measure(sides.other) })
  const toRow = (part: keyof Cost, name: string) =>
    summarize(
      rounds.map(({ ours, other }) => ({ ours: ours[part], other: other[part] })),
      { measure: `CPU of ${name} for ${of}`, unit: 'µs', goal: withLimit(goals[part]) },
    )
  return [toRow('process', 'the process'), toRow('postgres', 'PostgreSQL')]
}

function withLimit(microseconds: number | undefined): Row['goal'] {
  return microseconds === undefined ? undefined : { oursAtMost: microseconds }
}

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
