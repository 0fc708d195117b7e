import { Worker } from '../../../src/webhooks/queue/worker.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { webhookConfig } from '../../support/webhooks.ts'
import { type DashboardBrowser, startDashboard } from './support.ts'

export interface Deliveries {
  dashboard: DashboardBrowser
  receiver: WebhookReceiver
  close(): Promise<void>
}

/** Starts the dashboard, a delivery worker and a receiver. The second attempt is an hour later. */
export async function startDeliveries(): Promise<Deliveries> {
  const [dashboard, receiver] = await Promise.all([startDashboard(), startWebhookReceiver()])
  const worker = new Worker(dashboard.server.deps, { ...webhookConfig, retrySeconds: [3600] }, { pollMilliseconds: 20 })
  worker.start()
  return {
    dashboard,
    receiver,
    close: async () => {
      await worker.stop({ graceMilliseconds: 0 })
      await receiver.close()
      await dashboard.close()
    },
  }
}
