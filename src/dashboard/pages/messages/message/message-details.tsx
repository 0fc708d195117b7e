import { t } from '@lingui/core/macro'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Message } from '../../../../../contracts/api/message.ts'
import { toInternational } from '../../../../../contracts/phone-number.ts'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'
import { Copyable } from '../../../ui/copy.tsx'
import { DescriptionList } from '../../../ui/lists.tsx'
import { showRecipient } from '../../../ui/phone-number.ts'
import { useWhatsAppAccounts } from '../../whatsapp-accounts/use-whatsapp-accounts.ts'
import { useSimulatedOutcome } from '../message-status.tsx'
import { TextLink } from '../../../ui/button.tsx'

export function MessageDetails({ message }: { message: Message }) {
  const simulated = useSimulatedOutcome(message.to)
  const { messageId, waMessageId, to, waId, userId, template, language, externalId } = message
  return (
    <DescriptionList
      items={[
        { name: t`Recipient`, value: <Copyable label={t`recipient`} value={to} shown={showRecipient(to)} /> },
        simulated !== undefined && { name: t`Simulated outcome`, value: simulated },
        waId !== undefined && {
          name: t`Number in WhatsApp`,
          value: <Copyable label={t`number in WhatsApp`} value={waId} shown={showRecipient(waId)} />,
        },
        userId !== undefined && {
          name: t`User ID in WhatsApp`,
          value: <Copyable label={t`user ID in WhatsApp`} value={userId} />,
        },
        { name: t`Template`, value: template },
        { name: t`Language`, value: language },
        {
          name: t`External ID`,
          value:
            externalId === undefined ? (
              <Text span inherit c="dimmed">{t`None`}</Text>
            ) : (
              <Copyable label={t`external ID`} value={externalId} />
            ),
        },
        { name: t`Sent from`, value: <Sender whatsAppAccountId={message.accountId} /> },
        { name: t`Message ID`, value: <Copyable label={t`message ID`} value={messageId} /> },
        waMessageId !== undefined && {
          name: t`WhatsApp ID`,
          value: <Copyable label={t`WhatsApp ID`} value={waMessageId} />,
        },
        { name: t`Request`, value: <RequestOfMessage messageId={messageId} /> },
      ]}
    />
  )
}

/** The displayed phone number or its ID; our own ID if the account was removed or is not loaded. */
function Sender({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const { accountId } = useAccount()
  const { data } = useWhatsAppAccounts()
  const account = data?.find((account) => account.whatsAppAccountId === whatsAppAccountId)
  if (!account)
    return (
      <>
        {whatsAppAccountId}
        {data && ` (${t`removed`})`}
      </>
    )
  return (
    <TextLink to={`/${accountId}/whatsapp-accounts`} inherit>
      {account.displayPhoneNumber === undefined
        ? t`Phone number ID ${account.phoneNumberId}`
        : toInternational(account.displayPhoneNumber)}
    </TextLink>
  )
}

/** A link to the API request that sent the message. Test messages have none. */
function RequestOfMessage({ messageId }: { messageId: string }) {
  const { accountId } = useAccount()
  const { data, isError } = useQuery({
    queryKey: ['requests', accountId, 'of-message', messageId],
    queryFn: ({ signal }) => api.request.list.query({ accountId, search: messageId }, { signal }),
    // Requests are recorded about a second after their response.
    refetchInterval: ({ state }) =>
      state.data?.items.length === 0 && state.dataUpdateCount < maxReads ? readMilliseconds : false,
  })
  // The oldest request: later ones are retries with the same idempotency key.
  const first = data?.items.at(-1)
  if (first)
    return (
      <TextLink to={`/${accountId}/requests?request=${first.requestId}`} inherit>
        {first.requestId}
      </TextLink>
    )
  return (
    <Text span inherit c="dimmed">
      {data ? t`Not recorded` : isError ? t`Not available` : '…'}
    </Text>
  )
}

const readMilliseconds = 1_000
const maxReads = 5
