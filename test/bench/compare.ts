import { type Goal, type Row, type Sides, summarize } from './row.ts'
import { type LoadOptions, type LoadResult, runLoad, type Target } from './run-load.ts'

export interface Rounds {
  count: number
  /** Per round. */
  warmUpSeconds: number
  seconds: number
  /** Before the first round, to warm up the compiler and caches of both sides. */
  firstWarmUpSeconds: number
}

export interface Comparison {
  rounds: Sides<LoadResult>[]
  /** All responses, including those of warm-ups. */
  answered: Sides<number>
}

/** The requests to a side; a function if they depend on the number of previous responses. */
export type Load = Target | Target[] | ((answered: number) => Target)

/** Runs the same load on both sides alternately in short rounds, so that changes in the machine's speed affect both. */
export async function compare(
  loads: Sides<Load>,
  connections: number | Sides<number>,
  rounds: Rounds,
  { mayRefuse = false }: Pick<LoadOptions, 'mayRefuse'> = {},
): Promise<Comparison> {
  const answered = { ours: 0, other: 0 }
  const load = async (side: keyof typeof answered, lengths: Pick<LoadOptions, 'warmUpSeconds' | 'seconds'>) => {
    const chosen = loads[side]
    const targets = [typeof chosen === 'function' ? chosen(answered[side]) : chosen].flat()
    const count = typeof connections === 'number' ? connections : connections[side]
    const result = await runLoad({ targets, connections: count, mayRefuse, ...lengths })
    answered[side] += result.answered
    if (result.busy > tooBusy) console.error(`the load generator was busy: ${targets[0]?.url} may be faster than this`)
    return result
  }
  const both = async (lengths: Pick<LoadOptions, 'warmUpSeconds' | 'seconds'>) => ({
    ours: await load('ours', lengths),
    other: await load('other', lengths),
  })
  await both({ warmUpSeconds: 0, seconds: rounds.firstWarmUpSeconds })
  const results: Sides<LoadResult>[] = []
  while (results.length < rounds.count) results.push(await both(rounds))
  return { rounds: results, answered }
}

/** Above this share of a core, the load generator may be the bottleneck. */
const tooBusy = 0.9

/** One figure of a comparison as a table row. `times`: how many measured items each response stands for. */
export function toRow(
  { rounds }: Comparison,
  figure: 'perSecond' | 'p50' | 'p99',
  { measure, goal, times = 1 }: { measure: string; goal?: Goal | undefined; times?: number },
): Row {
  const figures = rounds.map(({ ours, other }) => ({ ours: ours[figure] * times, other: other[figure] * times }))
  return summarize(figures, { measure, unit: figure === 'perSecond' ? 'per second' : 'ms', goal })
}
