import { randomBytes } from 'node:crypto'
import { run, startPostgres, withDatabase } from '../support/postgres.ts'
import type { Rounds } from './compare.ts'

/** What every benchmark runs on. */
export interface Stage extends AsyncDisposable {
  /** Rounds are shorter, and what is filled in is less. */
  isQuick: boolean
  rounds: Rounds
  /** Of the PostgreSQL server. */
  adminUrl: string
  createDatabase(): Promise<string>
}

const thorough: Rounds = { count: 5, warmUpSeconds: 0.2, seconds: 0.8, firstWarmUpSeconds: 1.5 }
const quick: Rounds = { count: 3, warmUpSeconds: 0.2, seconds: 0.7, firstWarmUpSeconds: 1 }

/** On the PostgreSQL that `DATABASE_URL` names, or one of its own; its databases go with it. */
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
