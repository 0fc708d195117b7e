import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { Section } from '../../ui/section.tsx'
import { DeliveryList } from '../webhooks/delivery-list.tsx'
import { EndpointUrl } from '../webhooks/endpoint-url.tsx'
import { messageKey, type MessageHistory } from './use-message.ts'

/** Who was told of it, and what they answered. */
export function MessageWebhooks({ history: { message, deliveries } }: { history: MessageHistory }) {
  const { accountId } = useAccount()
  const isToldAtOnce = message.status === 'failed' && message.waMessageId === undefined
  return (
    <Section
      title="Webhook deliveries"
      description="What your endpoints were told of this message, and what they answered. Open one for its attempts."
    >
      {deliveries.length === 0 ? (
        <Text size="sm" c="dimmed">
          {isToldAtOnce
            ? 'It failed while it was being sent, so whoever sent it got the error as the answer, and no webhook.'
            : 'No endpoint was told of this message so far.'}{' '}
          <Anchor component={Link} to={`/${accountId}/webhooks`} inherit underline="always">
            See the webhooks
          </Anchor>
        </Text>
      ) : (
        <DeliveryList
          deliveries={deliveries}
          invalidates={[messageKey(accountId, message.messageId)]}
          about={({ endpointId }) => (
            <Anchor component={Link} to={`/${accountId}/webhooks/${endpointId}`} size="sm">
              Open the endpoint
            </Anchor>
          )}
          summary={({ url }) => <EndpointUrl url={url} />}
        />
      )}
    </Section>
  )
}
