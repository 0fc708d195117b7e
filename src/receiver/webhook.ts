/** `waybill/webhook`: what receives the webhooks of a Waybill. */
export {
  createFetchWebhookHandler,
  createWebhookHandler,
  type EventOf,
  type WebhookAnswer,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './handler.ts'
export type { WebhookHeaders } from './header.ts'
export type { ReceivedEvent, UnknownEvent } from './received-event.ts'
export { WebhookVerificationError } from './verification-error.ts'
export { verifyWebhook } from './verify.ts'
