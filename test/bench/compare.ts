import type { Goal, Row } from './row.ts'
import { runLoad, type LoadOptions, type LoadResult } from './run-load.ts'
import { summarize, type Sides } from './summarize.ts'
import type { Target } from './target.ts'

export interface Rounds {
  count: number
  /** Of each round. */
  warmUpSeconds: number
  seconds: number
  /** Before the first round: both sides get compiled code and full caches. */
  firstWarmUpSeconds: number
}

export interface Comparison {
  rounds: Sides<LoadResult>[]
  /** Answers in all, the warm-ups' too. */
  answered: Sides<number>
}

/** What is sent to a side; as a function, when it depends on how many answers have come before. */
export type Load = Target | Target[] | ((answered: number) => Target)

/**
 * The same load on both sides, by turns in short rounds, so that a machine that grows slower or busier
 * meanwhile does so for both.
 */
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

/** Share of a core from which on the load generator may be what is measured. */
const tooBusy = 0.9

/** One figure of a comparison as a line of the table. `times`: how many of what is measured an answer stands for. */
export function toRow(
  { rounds }: Comparison,
  figure: 'perSecond' | 'p50' | 'p99',
  { measure, goal, times = 1 }: { measure: string; goal?: Goal | undefined; times?: number },
): Row {
  const figures = rounds.map(({ ours, other }) => ({ ours: ours[figure] * times, other: other[figure] * times }))
  return summarize(figures, { measure, unit: figure === 'perSecond' ? 'per second' : 'ms', goal })
}
