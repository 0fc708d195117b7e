/** A separate file without schemas, because the first page of the dashboard loads it. */

const unregistered: ReadonlySet<string> = new Set(['PENDING', 'UNVERIFIED', 'DISCONNECTED'])

const neverRegistered: ReadonlySet<string> = new Set(['PENDING', 'UNVERIFIED'])

/** Whether a number waits for its first registration. */
export function awaitsRegistration({ status, onBusinessApp }: { status?: string; onBusinessApp?: boolean }): boolean {
  return onBusinessApp !== true && status !== undefined && neverRegistered.has(status)
}

/**
 * Whether a number needs no registration. A number that WhatsApp restricts is still registered. One that is also used in
 * the WhatsApp Business app is registered there.
 */
export function isRegistered({ status, onBusinessApp }: { status?: string; onBusinessApp?: boolean }): boolean {
  return onBusinessApp === true || (status !== undefined && !unregistered.has(status))
}
