import { setTimeout as delay } from 'node:timers/promises'
import { createAccount } from '../../../src/accounts/account.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { Benchmark } from '../benchmark.ts'
import { compareArrivals } from '../compare-arrivals.ts'
import type { Customer } from '../customer.ts'
import { queueDeliveries } from '../our-deliverer.ts'
import { startProcess } from '../start-process.ts'

const troubled = { slow: 20, dead: 5, failing: 5 }
const waitingForEach = 3_000
/** An account can have 20 endpoints. */
const perAccount = 15
/** Time until the windows of the slow endpoints stop growing. */
const warmUpMilliseconds = 20_000

/** How endpoints that respond slowly, fail or never respond affect the deliveries of a healthy one. */
export const slow: Benchmark = {
  name: 'slow',
  against: 'alone',
  run: async (stage) => {
    await using receiver = await startProcess('test/bench/troubled-receiver.ts')
    // Awaited here, before the receiver ends.
    return await compareArrivals(stage, {
      disturb: (customer) => addTroubledEndpoints(customer, receiver.url),
      settled: () => delay(warmUpMilliseconds),
      measure: 'from a status to its webhook beside 20 slow, 5 dead and 5 failing endpoints',
      goals: { p99: { atMost: 1.5 } },
    })
  },
}

async function addTroubledEndpoints(customer: Customer, url: string): Promise<void> {
  const urls = Object.entries(troubled).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => `${url}/${kind}/${index}`),
  )
  for (let added = 0; added < urls.length; added += perAccount) {
    const { accountId } = await createAccount(customer.deps, { name: 'In trouble' })
    const endpointIds: string[] = []
    for (const url of urls.slice(added, added + perAccount))
      endpointIds.push((await addEndpoint(customer.deps, accountId, { url })).endpointId)
    await queueDeliveries({ ...customer, accountId }, endpointIds, endpointIds.length * waitingForEach)
  }
}
