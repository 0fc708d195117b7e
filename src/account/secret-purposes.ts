/** What a stored secret is for: bound to its ciphertext, so that it cannot be moved to another row. */

export function accessTokenPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.access_token:${whatsAppAccountId}`
}

export function appSecretPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.app_secret:${whatsAppAccountId}`
}
