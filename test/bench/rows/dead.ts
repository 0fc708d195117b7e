import type { Benchmark } from '../benchmark.ts'
import { compareArrivals } from '../compare-arrivals.ts'
import { compareDeliveries } from '../compare-deliveries.ts'
import { endpointUrls } from '../deliverer.ts'
import { startOurDeliverer, queueDeliveries } from '../our-deliverer.ts'
import type { Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import { startReceiver, type Receiver } from '../start-receiver.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { Customer } from '../customer.ts'

const waitingForDead = 100_000

/** How an endpoint whose attempts all time out affects the deliveries of others. */
export const dead: Benchmark = {
  name: 'dead',
  against: 'without the dead endpoint',
  run: async (stage) => [...(await compareLatencies(stage)), await compareRates(stage)],
}

async function compareLatencies(stage: Stage): Promise<Row[]> {
  await using receiver = await startReceiver()
  // Awaited here, before the receiver ends.
  return await compareArrivals(stage, {
    disturb: (customer) => addDeadEndpoint(customer, receiver),
    measure: `from a status to its webhook while ${waiting} wait for a dead endpoint`,
  })
}

async function compareRates(stage: Stage): Promise<Row> {
  await using upstream = await startProcess('test/bench/upstream.ts')
  await using receiver = await startReceiver()
  const start = (part: string, isDisturbed: boolean) =>
    startOurDeliverer(stage, {
      upstreamUrl: upstream.url,
      urls: endpointUrls(receiver.url, part),
      ...(isDisturbed && { prepare: (customer) => addDeadEndpoint(customer, receiver) }),
    })
  await using ours = await start('ours', true)
  await using other = await start('other', false)
  const measure = `deliveries/s to the others while ${waiting} wait for a dead endpoint`
  // Awaited here, before the processes end.
  return await compareDeliveries(
    stage,
    { ours, other },
    { count: stage.isQuick ? 4_000 : 16_000, receiver },
    { measure },
  )
}

const waiting = waitingForDead.toLocaleString('en')

/** An endpoint that never responds, so that each attempt times out, and its waiting deliveries. */
async function addDeadEndpoint(customer: Customer, receiver: Receiver): Promise<void> {
  const { endpointId } = await addEndpoint(customer.deps, customer.accountId, { url: `${receiver.url}/dead` })
  await queueDeliveries(customer, [endpointId], waitingForDead)
}
