import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Row, type Sides, summarize } from '../row.ts'
import { readCpuTime } from '../cpu-time.ts'
import { createCustomer } from '../customer.ts'
import { readResidentBytes, root, startProcess } from '../start-process.ts'
import type { Benchmark } from '../stage.ts'

/** By then, a server has finished its first checks and housekeeping and collected the garbage of its start. */
const idleMilliseconds = 12_000

interface Start {
  readyMilliseconds: number
  cpuMilliseconds: number
  idleMegabytes: number
}

/** Start and idle memory of the built package, on PostgreSQL and embedded. */
export const start: Benchmark = {
  name: 'start',
  against: 'a bare `node:http` server',
  run: async (stage) => {
    await buildPackage()
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    const dataDir = await mkdtemp(path.join(tmpdir(), 'waybill-bench-'))
    try {
      const { DATABASE_URL: _, ...others } = customer.environment
      const embedded = { ...others, WAYBILL_DATA_DIR: dataDir }
      // The first start creates the database.
      await measureServer(embedded)
      return [
        ...(await compareStarts(stage.rounds.count, customer.environment, {
          on: 'PostgreSQL',
          megabytes: 90,
          ms: 500,
        })),
        ...(await compareStarts(stage.rounds.count, embedded, { on: 'PGlite', megabytes: 260, ms: 1_000 })),
      ]
    } finally {
      await rm(dataDir, { recursive: true })
    }
  },
}

async function compareStarts(
  count: number,
  environment: Record<string, string>,
  { on, megabytes, ms }: { on: string; megabytes: number; ms: number },
): Promise<Row[]> {
  const rounds: Sides<Start>[] = []
  while (rounds.length < count) rounds.push({ ours: await measureServer(environment), other: await measureBare() })
  const toRow = (figure: keyof Start, measure: string, unit: Row['unit'], goal?: Row['goal']) =>
    summarize(
      rounds.map(({ ours, other }) => ({ ours: ours[figure], other: other[figure] })),
      { measure: `${measure}, ${on}`, unit, goal },
    )
  return [
    toRow('idleMegabytes', 'resident memory, idle', 'MB', { oursAtMost: megabytes }),
    toRow('readyMilliseconds', 'start until /readyz answers 200', 'ms', { oursAtMost: ms }),
    toRow('cpuMilliseconds', 'CPU of a start', 'ms'),
  ]
}

function measureServer(environment: Record<string, string>): Promise<Start> {
  return measure(builtServer, { args: ['serve'], environment }, async (url) => {
    while (!(await fetch(`${url}/readyz`)).ok) await delay(5)
  })
}

function measureBare(): Promise<Start> {
  return measure('test/bench/bare-start.js', {}, () => Promise.resolve())
}

async function measure(
  script: string,
  options: Parameters<typeof startProcess>[1],
  untilReady: (url: string) => Promise<void>,
): Promise<Start> {
  const startedAt = performance.now()
  await using server = await startProcess(script, options)
  await untilReady(server.url)
  const readyMilliseconds = performance.now() - startedAt
  const cpuMilliseconds = (await readCpuTime(server.pid)) / 1000
  await delay(idleMilliseconds)
  return { readyMilliseconds, cpuMilliseconds, idleMegabytes: (await readResidentBytes(server.pid)) / 1e6 }
}

/** The bundled package that users install and run. */
export const builtServer = 'dist/src/cli/waybill.js'

export async function buildPackage(): Promise<void> {
  await promisify(execFile)(process.execPath, [path.join(root, 'src/packaging/build.ts')], { cwd: root })
}
