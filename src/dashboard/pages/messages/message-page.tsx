import { Alert, Anchor, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconArrowLeft, IconMailOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import type { FailureAdvice } from '../../../../contracts/dashboard/message.ts'
import { readFailure } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { Copyable } from '../../ui/copy.tsx'
import { DescriptionList } from '../../ui/description-list.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { DeliveryList } from '../webhooks/delivery-list.tsx'
import { EndpointUrl } from '../webhooks/endpoint.tsx'
import { MessageStatusBadge } from './message-status.tsx'
import { MessageTimeline } from './message-timeline.tsx'
import { RequestOfMessage } from './request-of-message.tsx'

export function MessagePage() {
  const { accountId } = useAccount()
  const messageId = useParams()['messageId'] ?? ''
  const { data, error, refetch } = useMessage(accountId, messageId)
  return (
    <>
      <BackToLog />
      <PageHeader
        title={data ? `Message to +${data.message.to}` : 'Message'}
        actions={data && <MessageStatusBadge status={data.message.status} />}
      />
      {data && <History history={data} />}
      {!data && error && readFailure(error).code === 'MESSAGE_NOT_FOUND' && <MessageNotFound />}
      {!data && error && readFailure(error).code !== 'MESSAGE_NOT_FOUND' && (
        <ErrorAlert error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <LoadingSkeleton lines={8} />}
    </>
  )
}

/** A link to the message log with its previous filters. */
function BackToLog() {
  const { accountId } = useAccount()
  const state: unknown = useLocation().state
  const search = typeof state === 'object' && state !== null && 'log' in state ? String(state.log) : ''
  return (
    <Anchor
      component={Link}
      to={{ pathname: `/${accountId}/messages`, search }}
      size="sm"
      underline="hover"
      display="inline-flex"
      mb="xs"
    >
      <IconArrowLeft size={16} style={{ marginInlineEnd: 4, marginBlock: 'auto' }} aria-hidden />
      Messages
    </Anchor>
  )
}

function History({ history }: { history: MessageHistory }) {
  const { message, failure } = history
  return (
    <>
      {message.error && <FailureAlert error={message.error} {...(failure && { failure })} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0}>
        <Section title="Timeline">
          <MessageTimeline message={message} />
        </Section>
        <Section title="Details">
          <MessageDetails message={message} />
        </Section>
      </SimpleGrid>
      <MessageWebhooks history={history} />
    </>
  )
}

function MessageNotFound() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconMailOff}
      title="Message not found"
      action={
        <Button component={Link} to={`/${accountId}/messages`} variant="default">
          Show all messages
        </Button>
      }
    >
      Check the address. The message may be older than the retention period.
    </EmptyState>
  )
}

type MessageHistory = Awaited<ReturnType<typeof settings.message.get.query>>

function messageKey(accountId: string, messageId: string) {
  return ['message', accountId, messageId]
}

/** Refreshes while the message can still change. */
function useMessage(accountId: string, messageId: string) {
  return useQuery({
    queryKey: messageKey(accountId, messageId),
    queryFn: ({ signal }) => settings.message.get.query({ accountId, messageId }, { signal }),
    refetchInterval: ({ state }) => state.data && refreshMilliseconds(state.data),
  })
}

function refreshMilliseconds({ message: { status }, deliveries }: MessageHistory): number | false {
  switch (status) {
    case 'pending':
    case 'sent':
      return 2_000
    // Many recipients turn off read receipts.
    case 'delivered':
      return 5_000
    case 'read':
    case 'failed':
      return deliveries.some(({ state }) => state === 'waiting') ? 2_000 : false
  }
}

interface FailureAlertProps {
  error: NonNullable<Message['error']>
  failure?: FailureAdvice
}

/** The reason, the advice and the error code. */
function FailureAlert({ error, failure }: FailureAlertProps) {
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={failure?.meaning ?? 'The message failed'} mb="lg">
      <Stack gap={6}>
        {failure && <Text size="sm">{failure.advice}</Text>}
        <Text size="xs" c="dimmed">
          {/^\d+$/.test(error.code) ? 'WhatsApp error' : 'Error'} {error.code}
          {error.message !== '' && error.message !== failure?.meaning && `: ${error.message}`}
        </Text>
      </Stack>
    </Alert>
  )
}

function MessageDetails({ message }: { message: Message }) {
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
    queryFn: () => settings.whatsAppAccount.list.query({ accountId }),
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

/** The webhook deliveries of the message. */
function MessageWebhooks({ history: { message, deliveries } }: { history: MessageHistory }) {
  const { accountId } = useAccount()
  const failedImmediately = message.status === 'failed' && message.waMessageId === undefined
  return (
    <Section
      title="Webhook deliveries"
      description="Events sent to your endpoints for this message. Open one to see its attempts."
    >
      {deliveries.length === 0 ? (
        <Text size="sm" c="dimmed">
          {failedImmediately
            ? 'The send request returned the error, so no webhook was sent.'
            : 'No events have been sent for this message yet.'}{' '}
          <Anchor component={Link} to={`/${accountId}/webhooks`} inherit underline="always">
            View webhooks
          </Anchor>
        </Text>
      ) : (
        <DeliveryList
          deliveries={deliveries}
          invalidates={[messageKey(accountId, message.messageId)]}
          about={({ endpointId }) => (
            <Anchor component={Link} to={`/${accountId}/webhooks/${endpointId}`} size="sm">
              View endpoint
            </Anchor>
          )}
          summary={({ url }) => <EndpointUrl url={url} />}
        />
      )}
    </Section>
  )
}
