import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { Facts } from '../../ui/facts.tsx'

export function MessageFacts({ message }: { message: Message }) {
  const { messageId, waMessageId, to, template, language, externalId } = message
  return (
    <Facts
      facts={[
        { name: 'Recipient', value: <Copyable label="recipient" value={to} /> },
        { name: 'Template', value: template },
        { name: 'Language', value: language },
        {
          name: 'External ID',
          value:
            externalId === undefined ? (
              <Text span inherit c="dimmed">
                None given
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
      ]}
    />
  )
}

/** The number as WhatsApp shows it, or by the ID of WhatsApp Manager; our own ID where the account is gone or not read yet. */
function Sender({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['whatsAppAccounts', accountId, 'numbers'],
    queryFn: () => settings.whatsAppAccount.list.query({ accountId }),
    staleTime: 60_000,
  })
  const account = data?.items.find((account) => account.whatsAppAccountId === whatsAppAccountId)
  if (!account)
    return (
      <>
        {whatsAppAccountId}
        {data && ' (removed since)'}
      </>
    )
  return (
    <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} inherit>
      {account.displayPhoneNumber ?? `Phone number ID ${account.phoneNumberId}`}
    </Anchor>
  )
}
