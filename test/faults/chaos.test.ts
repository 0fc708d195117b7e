import { expect, test } from 'vitest'
import { runRound } from '../chaos/campaign.ts'
import { faultKinds } from '../chaos/faults.ts'
import { summarize } from '../chaos/report.ts'

/** A short run of `npm run test:chaos`. A failure names the ledger to investigate. */
test.each([
  { database: 'postgres', kills: 10 },
  { database: 'pglite', kills: 10 },
] as const)(
  'keeps every guarantee on $database when killed $kills times under load',
  async ({ database, kills }) => {
    const seed = Math.floor(Math.random() * 1_000_000)
    const { violations, folder } = await runRound({
      database,
      seed,
      kills,
      minutes: 1.5,
      faults: faultKinds,
      settleSeconds: 30,
      keep: false,
    })
    expect(violations, `ledger in ${folder}/ledger: ${summarize(violations)}`).toEqual([])
  },
  420_000,
)
