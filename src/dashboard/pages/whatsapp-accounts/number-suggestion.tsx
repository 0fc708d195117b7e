import { Trans } from '@lingui/react/macro'
import { Anchor, Text } from '@mantine/core'
import { suggestNumber } from '../../ui/phone-number.ts'
import { useWhatsAppAccounts } from './use-whatsapp-accounts.ts'

/** Offers the country code of the default number, if a number was typed without one. */
export function NumberSuggestion({ typed, onAccept }: { typed: string; onAccept: (number: string) => void }) {
  const { data = [] } = useWhatsAppAccounts()
  const own = data.find(({ isDefault }) => isDefault) ?? data[0]
  const suggested = suggestNumber(typed, own?.displayPhoneNumber)
  if (suggested === undefined) return null
  return (
    <Text size="sm" role="status">
      <Trans>
        Did you mean{' '}
        <Anchor component="button" type="button" inherit onClick={() => onAccept(suggested)}>
          {suggested}
        </Anchor>
        ?
      </Trans>
    </Text>
  )
}
