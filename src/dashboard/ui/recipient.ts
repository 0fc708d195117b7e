/** A number gets its plus sign; a user ID, and the word for an erased recipient, stay as they are. */
export function showRecipient(to: string): string {
  return /^\d/.test(to) ? `+${to}` : to
}

/** The field in which the API takes a number or a user ID. */
export function toRecipientField(recipient: string): { to: string } | { recipient: string } {
  return recipient.includes('.') ? { recipient } : { to: recipient }
}
