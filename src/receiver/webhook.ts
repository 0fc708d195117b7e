/** `waybill-client/webhook`: verifies and handles the webhooks of a Waybill server. */
export {
  createFetchWebhookHandler,
  createWebhookHandler,
  type EventOf,
  type WebhookAnswer,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './handler.ts'
export type { WebhookHeaders } from './verify.ts'
export type { ReceivedEvent, UnknownEvent } from './event.ts'
export { WebhookVerificationError } from './event.ts'
export { verifyWebhook } from './verify.ts'
