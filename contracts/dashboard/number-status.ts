/** A separate file without schemas, because the first page of the dashboard loads it. */

const unregistered: ReadonlySet<string> = new Set(['PENDING', 'UNVERIFIED', 'DISCONNECTED'])

/** Whether a number with this status must be registered. A number that WhatsApp restricts is still registered. */
export function needsRegistration(status: string): boolean {
  return unregistered.has(status)
}
