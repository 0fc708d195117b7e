/** Path of the callback URL. An app with its own secret adds the ID of its WhatsApp account. */
export const callbackPath = '/webhooks/whatsapp'

export function callbackPathOf(whatsAppAccountId: string): string {
  return `${callbackPath}/${whatsAppAccountId}`
}
