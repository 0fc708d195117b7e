/** A request that cannot be shown to be Waybill's; the message says why, and quotes nothing of it. */
export class WebhookVerificationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WebhookVerificationError'
  }
}
