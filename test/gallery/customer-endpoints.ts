import type { AttemptResult, WebhookSender } from '../../src/webhooks/sender/webhook-sender.ts'

/** The shop's endpoints: one that works, one that was deployed with a wrong secret, and one that is down. */
export const endpoints = {
  orders: 'https://orders.example.com/hooks/whatsapp',
  crm: 'https://crm.example.com/api/waybill',
  archive: 'https://archive.example.com/in',
}

/** Responds to deliveries like the endpoints of the shop. `isCrmDown` decides whether one of them is down. */
export function createCustomerEndpoints(random: () => number, isCrmDown: () => boolean): WebhookSender {
  const attempt = (url: string): AttemptResult => {
    const durationMilliseconds = Math.round(40 + random() * 140)
    if (url === endpoints.crm && isCrmDown())
      return { outcome: 'failed', error: 'connection refused', durationMilliseconds: 3 }
    if (url === endpoints.archive && random() < 0.15)
      return { outcome: 'failed', statusCode: 503, responseStart: 'upstream busy', durationMilliseconds }
    return { outcome: 'delivered', statusCode: 200, responseStart: 'ok', durationMilliseconds }
  }
  return {
    attempt: ({ url }) => Promise.resolve(attempt(url)),
    post: ({ url }) => Promise.resolve(attempt(url)),
    check: () => Promise.resolve('allowed'),
    close: () => Promise.resolve(),
  }
}
