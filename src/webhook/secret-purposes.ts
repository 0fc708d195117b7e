/** What a stored secret is for: bound to its ciphertext, so that it cannot be moved to another row. */

export function endpointSecretPurpose(endpointId: string): string {
  return `webhook_endpoints.secret:${endpointId}`
}

export function endpointHeadersPurpose(endpointId: string): string {
  return `webhook_endpoints.headers:${endpointId}`
}
