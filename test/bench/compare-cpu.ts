import { findPostmaster, readCpuTime, readPostgresCpuTime } from './cpu-time.ts'
import type { Row } from './row.ts'
import { runLoad } from './run-load.ts'
import type { Stage } from './stage.ts'
import { summarize, type Sides } from './summarize.ts'
import type { RepeatedRequest } from './target.ts'

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
