import { t } from '@lingui/core/macro'
import { Button, Group, Pill } from '@mantine/core'
import { toInternational } from '../../../../contracts/phone-number.ts'
import { describeCountry } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { showRecipient } from '../../ui/phone-number.ts'
import { describeExactly } from '../../ui/time.ts'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { type MessageFilters, noFilters, ranges } from './message-filters.ts'
import { nameStatus } from './message-status.tsx'

interface Chip {
  name: string
  value: string
  /** The filter changes when the chip is removed. */
  without: Partial<MessageFilters>
}

interface FilterChipsProps {
  filters: MessageFilters
  numbers: readonly SendingNumber[]
  onChange: (changes: Partial<MessageFilters>) => void
}

/**
 * The active filters as removable chips. Times include their time zone, because links from the overview use the account's
 * time zone, which may differ from the reader's.
 */
export function FilterChips({ filters, numbers, onChange }: FilterChipsProps) {
  const chips = listChips(filters, numbers)
  if (chips.length === 0) return null
  return (
    <Group gap="xs" mt="sm" role="group" aria-label={t`Active filters`}>
      {chips.map(({ name, value, without }) => (
        <Pill
          key={name}
          withRemoveButton
          removeButtonProps={{ 'aria-label': t`Remove filter ${name}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onChange(without)}
        >
          {name}: {value}
        </Pill>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(noFilters)}>{t`Clear filters`}</Button>
    </Group>
  )
}

function listChips(filters: MessageFilters, numbers: readonly SendingNumber[]): Chip[] {
  const { status, outcome, failure, range, from, until, search, errorCode, country } = filters
  const number = numbers.find((one) => one.whatsAppAccountId === filters.whatsAppAccountId)
  const chips: (Chip | false)[] = [
    search !== '' && { name: t`Search`, value: search, without: { search: '', parts: '' } },
    status !== '' && {
      name: t`Status`,
      value: translate(nameStatus({ status, failure, outcome })),
      without: { status: '', failure: '', outcome: '' },
    },
    range !== 'any' &&
      range !== 'custom' && { name: t`Time`, value: translate(ranges[range].label), without: { range: 'any' } },
    range === 'custom' &&
      from !== '' && { name: t`From`, value: describeExactly(from), without: withoutTime({ until }) },
    range === 'custom' &&
      until !== '' && { name: t`Until`, value: describeExactly(until), without: withoutTime({ from }) },
    filters.template !== '' && { name: t`Template`, value: filters.template, without: { template: '' } },
    number !== undefined && { name: t`Sent from`, value: number.name, without: { whatsAppAccountId: '' } },
    country !== '' && { name: t`Country`, value: describeCountry(country), without: { country: '' } },
    errorCode !== '' && { name: t`Error code`, value: errorCode, without: { errorCode: '' } },
    filters.to !== '' && { name: t`Recipient`, value: showRecipient(filters.to), without: { to: '' } },
    filters.externalId !== '' && { name: t`External ID`, value: filters.externalId, without: { externalId: '' } },
  ]
  return chips.filter((chip) => chip !== false)
}

/** Keeps the other end of a custom range. */
function withoutTime(rest: { from?: string; until?: string }): Partial<MessageFilters> {
  const { from = '', until = '' } = rest
  return { from, until, range: from === '' && until === '' ? 'any' : 'custom' }
}

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
