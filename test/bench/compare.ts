import type { Target } from './connection.ts'
import type { Goal, Row } from './row.ts'
import { runLoad, type LoadOptions, type LoadResult } from './run-load.ts'

export interface Rounds {
  count: number
  /** Of each round. */
  warmUpSeconds: number
  seconds: number
  /** Before the first round: both sides get compiled code and full caches. */
  firstWarmUpSeconds: number
}

export interface Sides<T> {
  ours: T
  other: T
}

export interface Comparison {
  rounds: Sides<LoadResult>[]
  /** Answers in all, the warm-ups' too. */
  answered: Sides<number>
}

/**
 * The same load on both sides, by turns in short rounds, so that a machine that grows slower or busier
 * meanwhile does so for both.
 */
export async function compare(targets: Sides<Target>, connections: number, rounds: Rounds): Promise<Comparison> {
  const answered = { ours: 0, other: 0 }
  const load = async (side: keyof typeof answered, lengths: Pick<LoadOptions, 'warmUpSeconds' | 'seconds'>) => {
    const result = await runLoad({ target: targets[side], connections, ...lengths })
    answered[side] += result.answered
    if (result.busy > tooBusy)
      console.error(`the load generator was busy: ${targets[side].url} may be faster than this`)
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

/** One figure of a comparison as a line of the table. */
export function toRow(
  { rounds }: Comparison,
  figure: 'perSecond' | 'p50' | 'p99',
  { measure, goal }: { measure: string; goal?: Goal | undefined },
): Row {
  const ours = rounds.map((round) => round.ours[figure])
  const other = rounds.map((round) => round.other[figure])
  const ratios = rounds.map((round) => round.ours[figure] / round.other[figure])
  return {
    measure,
    unit: figure === 'perSecond' ? 'per second' : 'ms',
    ours: median(ours),
    other: median(other),
    ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    goal,
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
