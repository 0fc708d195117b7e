import { findPostmaster, readPostgresCpuTime } from '../cpu-time.ts'
import { type Row, type Sides, summarize } from '../row.ts'
import { root } from '../start-process.ts'
import type { Stage } from '../stage.ts'
import type { ProbedProcess } from './probed-process.ts'
import {
  canCountSystemCalls,
  countSystemCalls,
  type Measured,
  openDeliveries,
  openSends,
  openStatuses,
} from './measured.ts'

/** The cost of one item. */
interface Cost {
  bytes: number
  mainThread: number
  process: number
  fullCollections: number
  postgres: number
}

const figures = {
  bytes: { label: 'bytes allocated', unit: 'bytes' },
  mainThread: { label: 'CPU of the main thread', unit: 'µs' },
  process: { label: 'CPU of the process', unit: 'µs' },
  fullCollections: { label: 'full collections per 10,000', unit: 'count' },
  postgres: { label: 'CPU of PostgreSQL', unit: 'µs' },
} as const satisfies Record<keyof Cost, Pick<Row, 'unit'> & { label: string }>

/**
 * Until then, code is still being compiled: a process took 1.4 times as long for one of its first 9,000 sends as after
 * 40,000. After a fixed time, a slow machine would still compile.
 */
const warmUpItems = 40_000

const subjects = [openSends, openStatuses, openDeliveries]

/** Measures what a send, a status callback and a delivery cost; the other checkout, if any, does the same work by turns. */
export async function compareCosts(stage: Stage, otherRoot: string | undefined): Promise<Row[]> {
  const rows: Row[] = []
  for (const open of subjects) {
    await using ours = await open(stage, root)
    await using other = otherRoot === undefined ? undefined : await open(stage, otherRoot)
    rows.push(...(await compareSubject(stage, ours, other)))
  }
  return rows
}

async function compareSubject(stage: Stage, ours: Measured, other: Measured | undefined): Promise<Row[]> {
  const postmaster = await findPostmaster(stage.adminUrl)
  const both = async <T>(read: (side: Measured) => Promise<T>) => ({
    ours: await read(ours),
    other: other && (await read(other)),
  })
  // By turns, like the rounds: a process that waits for the warm-up of the other one collects its garbage and forgets code.
  for (let items = 0; items < warmUpItems;) {
    const done = await both(({ work }) => work())
    items += Math.min(done.ours, done.other ?? Infinity)
  }
  const rounds: Pair<Cost>[] = []
  while (rounds.length < stage.rounds.count) rounds.push(await both((side) => measure(side, postmaster)))
  const rows = Object.entries(figures).map(([key, { label, unit }]) => {
    // The keys of a table whose type names them.
    const figure = key as keyof Cost
    const values = rounds.map((round) => ({ ours: round.ours[figure], other: round.other?.[figure] }))
    return toRow(values, `${ours.item}: ${label}`, unit)
  })
  const statements = await both(countStatements)
  rows.push(toRow([statements], `${ours.item}: statements`, 'count'))
  if (canCountSystemCalls()) rows.push(toRow([await both(readSystemCalls)], `${ours.item}: system calls`, 'count'))
  else console.error('strace is not installed, so system calls are not counted')
  return rows
}

async function measure({ server, work }: Measured, postmaster: number): Promise<Cost> {
  const postgresBefore = await readPostgresCpuTime(postmaster)
  await server.start()
  const items = await work()
  const used = await server.stop()
  const postgres = (await readPostgresCpuTime(postmaster)) - postgresBefore
  return {
    bytes: used.bytes / items,
    mainThread: used.mainThread / items,
    process: used.process / items,
    fullCollections: (used.fullCollections * 10_000) / items,
    postgres: postgres / items,
  }
}

async function countStatements({ server, work }: Measured): Promise<number> {
  await server.countStatements()
  const items = await work()
  return sum(await server.readStatements()) / items
}

function sum(counts: Awaited<ReturnType<ProbedProcess['readStatements']>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

async function readSystemCalls({ server, work }: Measured): Promise<number> {
  let items = 0
  const calls = await countSystemCalls(server.pid, async () => void (items = await work()))
  return calls / items
}

interface Pair<T> {
  ours: T
  other: T | undefined
}

function toRow(rounds: Pair<number>[], measure: string, unit: Row['unit']): Row {
  const pairs: Sides<number>[] = rounds.map(({ ours, other = NaN }) => ({ ours, other }))
  return summarize(pairs, { measure, unit, goal: undefined })
}
