import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Message } from '../../../../../contracts/api/message.ts'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'
import { Copyable } from '../../../ui/copy.tsx'
import { DescriptionList } from '../../../ui/description-list.tsx'
import { RequestOfMessage } from '../request-of-message.tsx'

export function MessageDetails({ message }: { message: Message }) {
  const { messageId, waMessageId, to, template, language, externalId } = message
  return (
    <DescriptionList
      items={[
        { name: 'Recipient', value: <Copyable label="recipient" value={to} /> },
        { name: 'Template', value: template },
        { name: 'Language', value: language },
        {
          name: 'External ID',
          value:
            externalId === undefined ? (
              <Text span inherit c="dimmed">
                None
              </Text>
            ) : (
              <Copyable label="external ID" value={externalId} />
            ),
        },
        { name: 'Sent from', value: <Sender whatsAppAccountId={message.accountId} /> },
        { name: 'Message ID', value: <Copyable label="message ID" value={messageId} /> },
        ...(waMessageId === undefined
          ? []
          : [{ name: 'WhatsApp ID', value: <Copyable label="WhatsApp ID" value={waMessageId} /> }]),
        { name: 'Request', value: <RequestOfMessage messageId={messageId} /> },
      ]}
    />
  )
}

/** The displayed phone number or its ID; our own ID if the account was removed or is not loaded. */
function Sender({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['whatsAppAccounts', accountId, 'numbers'],
    queryFn: () => api.whatsAppAccount.list.query({ accountId }),
    staleTime: 60_000,
  })
  const account = data?.items.find((account) => account.whatsAppAccountId === whatsAppAccountId)
  if (!account)
    return (
      <>
        {whatsAppAccountId}
        {data && ' (removed)'}
      </>
    )
  return (
    <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} inherit>
      {account.displayPhoneNumber ?? `Phone number ID ${account.phoneNumberId}`}
    </Anchor>
  )
}
