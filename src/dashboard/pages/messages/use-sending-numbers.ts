import { t } from '@lingui/core/macro'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { toInternational } from '../../../../contracts/phone-number.ts'

export interface SendingNumber {
  whatsAppAccountId: string
  /** The displayed phone number, its ID, or our own ID if the WhatsApp account was removed or is not loaded. */
  name: string
}

/** The numbers that send messages, and `selected`, which stays selectable through the URL even if it was removed. */
export function useSendingNumbers(selected: string): SendingNumber[] {
  const { data = [] } = useWhatsAppAccounts()
  const numbers = data.map((account) => ({
    whatsAppAccountId: account.whatsAppAccountId,
    name:
      account.displayPhoneNumber === undefined
        ? t`Phone number ID ${account.phoneNumberId}`
        : toInternational(account.displayPhoneNumber),
  }))
  const isListed = selected === '' || numbers.some(({ whatsAppAccountId }) => whatsAppAccountId === selected)
  return isListed ? numbers : [...numbers, { whatsAppAccountId: selected, name: selected }]
}
