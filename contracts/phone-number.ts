/**
 * The one form in which people see phone numbers. WhatsApp groups the digits of its own numbers in several ways. A file of
 * its own, because every page of the dashboard needs it, and the schemas of fields on a few only.
 */
export function toInternational(displayPhoneNumber: string): string {
  return `+${displayPhoneNumber.replaceAll(/\D/g, '')}`
}
