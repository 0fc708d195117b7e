import { t } from '@lingui/core/macro'
import { Anchor, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useAccount } from '../../../session/session.ts'
import { DeliveryList } from '../../webhooks/delivery-list.tsx'
import { EndpointUrl } from '../../webhooks/endpoint.tsx'
import { type MessageHistory, messageKey } from './use-message.ts'
import { CodeBlock } from '../../../ui/copy.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { TextLink } from '../../../ui/button.tsx'

/** The webhook deliveries of the message with their requests and responses. */
export function MessageDeliveries({ history: { message, deliveries } }: { history: MessageHistory }) {
  const { accountId } = useAccount()
  if (deliveries.length === 0) {
    const failedImmediately = message.status === 'failed' && message.waMessageId === undefined
    return (
      <Text size="sm" c="dimmed">
        {failedImmediately
          ? t`The send request returned the error, so no webhook was sent.`
          : t`No events have been sent for this message yet.`}{' '}
        <TextLink to={`/${accountId}/webhooks`} inherit underline="always">{t`View webhooks`}</TextLink>
      </Text>
    )
  }
  return (
    <DeliveryList
      deliveries={deliveries}
      invalidates={[messageKey(accountId, message.messageId)]}
      about={({ endpointId, payload }) => (
        <Stack gap={4} align="flex-start" mb={4}>
          <TextLink to={`/${accountId}/webhooks/${endpointId}`} size="sm">{t`View endpoint`}</TextLink>
          {payload !== undefined && <EventPayload payload={payload} />}
        </Stack>
      )}
      summary={({ url }) => <EndpointUrl url={url} />}
    />
  )
}

/** The body of a webhook, collapsed because it is long. It is the same for all endpoints. */
function EventPayload({ payload }: { payload: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Anchor component="button" type="button" size="sm" onClick={open}>{t`View payload`}</Anchor>
      <Modal opened={opened} onClose={close} title={t`Webhook payload`} size="lg">
        <CodeBlock label={t`Payload`} code={format(payload)} />
      </Modal>
    </>
  )
}

function format(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
