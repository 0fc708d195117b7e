import { expect, test } from 'vitest'
import { runRound } from '../chaos/campaign.ts'
import { faultKinds } from '../chaos/faults.ts'

/** A short run of `npm run test:chaos`; whatever it finds is to be looked at with the ledger that it names. */
test.each([
  { database: 'postgres', kills: 10 },
  { database: 'pglite', kills: 10 },
] as const)(
  'a service on $database that is killed $kills times under load breaks no promise',
  async ({ database, kills }) => {
    const seed = Math.floor(Math.random() * 1_000_000)
    const { violations, folder } = await runRound({
      database,
      seed,
      kills,
      minutes: 1.5,
      faults: faultKinds,
      settleSeconds: 30,
    })
    expect(violations, `seed ${seed}, ledger in ${folder}/ledger`).toEqual([])
  },
  420_000,
)
