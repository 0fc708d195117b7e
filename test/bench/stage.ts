import { randomBytes } from 'node:crypto'
import { run, startPostgres, withDatabase } from '../support/postgres.ts'
import type { Rounds } from './compare.ts'
import type { Row } from './row.ts'

/** The environment of every benchmark. */
export interface Stage extends AsyncDisposable {
  /** Uses shorter rounds and less data. */
  isQuick: boolean
  rounds: Rounds
  /** The URL of the PostgreSQL server. */
  adminUrl: string
  createDatabase(): Promise<string>
}

/** Runs as `npm run bench -- <name>`: compares two sides in one run on one machine. */
export interface Benchmark {
  name: string
  /** The label of the other side in the table. */
  against: string
  run(stage: Stage): Promise<Row[]>
}

const thorough: Rounds = { count: 5, warmUpSeconds: 0.2, seconds: 0.8, firstWarmUpSeconds: 1.5 }
const quick: Rounds = { count: 3, warmUpSeconds: 0.2, seconds: 0.7, firstWarmUpSeconds: 1 }

/** Uses the PostgreSQL server in `DATABASE_URL` or starts one; drops its databases at the end. */
export async function openStage(options: { quick: boolean; databaseUrl: string | undefined }): Promise<Stage> {
  await using resources = new AsyncDisposableStack()
  const adminUrl = options.databaseUrl ?? (await startOwn(resources))
  const kept = resources.move()
  return {
    isQuick: options.quick,
    rounds: options.quick ? quick : thorough,
    adminUrl,
    createDatabase: async () => {
      const name = `waybill_bench_${randomBytes(4).toString('hex')}`
      await run(adminUrl, `create database ${name}`)
      kept.defer(() => run(adminUrl, `drop database ${name} with (force)`))
      return withDatabase(adminUrl, name)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function startOwn(resources: AsyncDisposableStack): Promise<string> {
  const postgres = await startPostgres()
  resources.defer(() => postgres.stop())
  return postgres.url
}
