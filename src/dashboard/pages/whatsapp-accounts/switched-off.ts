import type { WhatsAppAccount } from '../../../../contracts/settings/whatsapp-account.ts'

/** Whether a person took it out of use, and not WhatsApp: the server gives this reason for it. */
export function isSwitchedOff({ active, reason }: WhatsAppAccount): boolean {
  return !active && (reason === undefined || reason === 'switched off by its owner')
}
