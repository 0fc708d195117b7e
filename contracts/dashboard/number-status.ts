/** Without the schemas, which the first page of the dashboard would have to load. */

const unregistered: ReadonlySet<string> = new Set(['PENDING', 'UNVERIFIED', 'DISCONNECTED'])

/** Whether a number with this status must be registered. One that WhatsApp restricts is registered all the same. */
export function needsRegistration(status: string): boolean {
  return unregistered.has(status)
}
