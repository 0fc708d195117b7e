import { writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { FaultyPostgres } from './database.ts'
import type { LedgerWriter } from './ledger.ts'
import type { ChaosNode } from './node.ts'
import type { Random } from './random.ts'
import type { Upstream } from './start-upstream.ts'

export const faultKinds = ['kill', 'pause', 'clock', 'database', 'upstream'] as const
export type FaultKind = (typeof faultKinds)[number]

/** How often each fault is chosen. Most are kills. */
const weights: Record<FaultKind, number> = { kill: 20, pause: 2, clock: 1, database: 1.5, upstream: 3 }

/** Clock jumps in seconds: shorter and longer than leases, timeouts and the lifetime of cursors. */
const clockJumps = [-3600, -60, -5, 5, 60, 3600] as const

export interface FaultyParts {
  nodes: [ChaosNode, ...ChaosNode[]]
  upstream: Upstream
  /** Absent on the embedded database, which has no separate process. */
  postgres: FaultyPostgres | undefined
  /** The file that sets the clocks of the nodes (jumping-clock.ts). */
  nodeClockFile: string
  ledger: LedgerWriter
  random: Random
}

export interface Goal {
  kills: number
  endsAt: number
}

/** Injects random faults until the goal is reached. Resolves to the number of kills after all faults have ended. */
export async function causeFaults(parts: FaultyParts, kinds: readonly FaultKind[], goal: Goal): Promise<number> {
  const { random, nodes, postgres } = parts
  const running = new Set<Promise<void>>()
  const busy = new Set<FaultKind>()
  const possible = kinds.filter((kind) => kind !== 'database' || postgres)
  const chosen = Object.fromEntries(possible.map((kind) => [kind, weights[kind]])) as Record<FaultKind, number>
  const background = (fault: Promise<void>) => {
    running.add(fault)
    void fault.finally(() => running.delete(fault))
  }
  let kills = 0
  while (kills < goal.kills && Date.now() < goal.endsAt) {
    await delay(random.between(20, 250))
    const kind = random.weighted(chosen)
    if (kind === 'kill') {
      const victim = await waitForVictim(nodes, random, goal.endsAt)
      if (victim) background(killAndStart(victim, () => kills++))
    } else if (!busy.has(kind)) {
      // Runs at most one fault of each kind at a time; different kinds overlap.
      busy.add(kind)
      background(cause(parts, kind).finally(() => busy.delete(kind)))
    }
  }
  await Promise.all(running)
  return kills
}

/**
 * Usually picks a process that serves beside another one, since a process without requests has nothing to lose.
 * Sometimes picks the last one, or one that is starting or paused.
 */
async function waitForVictim(
  nodes: readonly ChaosNode[],
  random: Random,
  endsAt: number,
): Promise<ChaosNode | undefined> {
  const isAny = random.chance(0.1)
  // Lets the load reach the process first, so that the kill interrupts its work.
  const servedMilliseconds = random.between(30, 1_200)
  while (Date.now() < endsAt) {
    const serving = nodes.filter(({ state }) => state === 'up')
    const [first, ...others] = isAny ? nodes.filter(({ state }) => state !== 'down') : serving
    const victim = first && random.pick([first, ...others])
    const isSettled = victim?.state !== 'up' || Date.now() - victim.readyAt >= servedMilliseconds
    if (victim && isSettled && (isAny || serving.length >= Math.min(2, nodes.length))) return victim
    await delay(10)
  }
  return undefined
}

async function killAndStart(node: ChaosNode, count: () => void): Promise<void> {
  if (await node.kill()) count()
  // Another kill may have stopped it while it was starting; that fault then restarts it.
  if (node.state === 'down') await node.start()
}

async function cause(parts: FaultyParts, kind: Exclude<FaultKind, 'kill'>): Promise<void> {
  const { ledger } = parts
  const { detail, run } = plan(parts, kind)
  ledger.write({ kind: 'fault', fault: kind, phase: 'begin', detail })
  await run()
  ledger.write({ kind: 'fault', fault: kind, phase: 'end', detail })
}

interface PlannedFault {
  detail: string
  run: () => Promise<void>
}

function plan(parts: FaultyParts, kind: Exclude<FaultKind, 'kill'>): PlannedFault {
  switch (kind) {
    case 'pause':
      return planPause(parts)
    case 'clock':
      return planClockJump(parts)
    case 'database':
      return planDatabaseFault(parts)
    case 'upstream':
      return planUpstreamFault(parts)
  }
}

function planPause({ nodes, random }: FaultyParts): PlannedFault {
  const node = random.pick(nodes)
  // Sometimes longer than the lease of a worker.
  const milliseconds = random.chance(0.1) ? 13_000 : random.between(100, 3_000)
  const run = async () => {
    if (node.state === 'up') await node.pause(milliseconds)
  }
  return { detail: `node ${nodes.indexOf(node)} for ${milliseconds} ms`, run }
}

/** Shifts the clocks of all nodes or of the database, since they run on different machines. */
function planClockJump({ nodeClockFile, postgres, random }: FaultyParts): PlannedFault {
  const seconds = random.pick(clockJumps)
  const milliseconds = random.between(500, 3_000)
  const setNodes = (shift: number) => writeFile(nodeClockFile, String(shift))
  const isOfDatabase = postgres?.shiftClock !== undefined && random.chance(0.5)
  const set = isOfDatabase && postgres.shiftClock ? postgres.shiftClock : setNodes
  return {
    detail: `${isOfDatabase ? 'database' : 'nodes'} by ${seconds} s for ${milliseconds} ms`,
    run: async () => {
      await set(seconds * 1000)
      await delay(milliseconds)
      await set(0)
    },
  }
}

function planDatabaseFault({ postgres, random }: FaultyParts): PlannedFault {
  if (!postgres) throw new Error('the embedded database has no process of its own')
  const detail = random.weighted({ cut: 3, restart: 1, crash: 2, freeze: 2 })
  const milliseconds = random.between(200, 2_000)
  return { detail, run: () => (detail === 'freeze' ? postgres.freeze(milliseconds) : postgres[detail]()) }
}

function planUpstreamFault({ upstream, random }: FaultyParts): PlannedFault {
  const detail = random.pick(['slow', 'refused', 'reset', 'garbage'] as const)
  const milliseconds = random.between(200, 1_500)
  return {
    detail,
    run: async () => {
      await upstream.behave(detail)
      await delay(milliseconds)
      await upstream.behave('normal')
    },
  }
}
