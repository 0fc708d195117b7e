import { afterAll, beforeAll } from 'vitest'
import { Worker } from '../../../src/webhooks/queue/worker.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { webhookConfig } from '../../support/webhooks.ts'
import { useDashboard } from './support.ts'

/** The dashboard, with a delivery worker and a receiver. The second attempt is an hour later. */
export function useDeliveries() {
  const dashboard = useDashboard()
  const receiver = {} as WebhookReceiver
  let worker: Worker | undefined
  beforeAll(async () => {
    Object.assign(receiver, await startWebhookReceiver())
    worker = new Worker(dashboard.server.deps, { ...webhookConfig, retrySeconds: [3600] }, { pollMilliseconds: 20 })
    worker.start()
  })
  // Before the dashboard closes: Vitest calls these hooks in reverse order.
  afterAll(async () => {
    await worker?.stop({ graceMilliseconds: 0 })
    await (receiver as Partial<WebhookReceiver>).close?.()
  })
  return { dashboard, receiver }
}
