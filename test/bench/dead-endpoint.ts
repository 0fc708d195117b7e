import { addEndpoint } from '../../src/webhooks/endpoints/add.ts'
import type { Customer } from './customer.ts'
import { queueDeliveries } from './our-deliverer.ts'
import type { Receiver } from './start-receiver.ts'

export const waitingForDead = 100_000

/** An endpoint that never responds, so that each attempt times out, and its waiting deliveries. */
export async function addDeadEndpoint(customer: Customer, receiver: Receiver): Promise<void> {
  const { endpointId } = await addEndpoint(customer.deps, customer.accountId, { url: `${receiver.url}/dead` })
  await queueDeliveries(customer, [endpointId], waitingForDead)
}
