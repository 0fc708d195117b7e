import { addEndpoint } from '../../src/webhooks/endpoints/add.ts'
import type { Customer } from './customer.ts'
import { queueDeliveries } from './our-deliverer.ts'
import type { Receiver } from './start-receiver.ts'

export const waitingForDead = 100_000

/** An endpoint that answers nothing, so that each attempt takes its whole deadline, and what waits for it. */
export async function addDeadEndpoint(customer: Customer, receiver: Receiver): Promise<void> {
  const { endpointId } = await addEndpoint(customer.deps, customer.accountId, { url: `${receiver.url}/dead` })
  await queueDeliveries(customer, [endpointId], waitingForDead)
}
