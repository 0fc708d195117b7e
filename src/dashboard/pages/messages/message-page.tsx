import { t } from '@lingui/core/macro'
import { Group, SimpleGrid, Stack } from '@mantine/core'
import { useLocation, useNavigate, useParams } from 'react-router'
import { useAccount } from '../../session/session.ts'
import { BackLink, PageHeader, Section } from '../../ui/page.tsx'
import { LoadingSkeleton } from '../../ui/placeholders.tsx'
import { showRecipient } from '../../ui/phone-number.ts'
import { FailureAlert, MessageProblem, UnknownOutcomeAlert } from './message/message-alerts.tsx'
import { MessageActions } from './message/message-actions.tsx'
import { MessageDeliveries } from './message/message-deliveries.tsx'
import { MessageDetails } from './message/message-details.tsx'
import { SentPreview } from './message/sent-preview.tsx'
import { type MessageHistory, useMessage } from './message/use-message.ts'
import { MessageStatusBadge } from './message-status.tsx'
import { MessageTimeline } from './message-timeline.tsx'

export function MessagePage() {
  const { accountId } = useAccount()
  const messageId = useParams()['messageId'] ?? ''
  const navigate = useNavigate()
  const { data, error, refetch } = useMessage(messageId)
  return (
    <>
      <BackToLog />
      <PageHeader
        title={data ? t`Message to ${showRecipient(data.message.to)}` : t`Message`}
        actions={
          data && (
            <Group gap="xs">
              <MessageStatusBadge status={data.message.status} />
              <MessageActions history={data} onSentAgain={(id) => void navigate(`/${accountId}/messages/${id}`)} />
            </Group>
          )
        }
      />
      {data && <History history={data} />}
      {!data && error && <MessageProblem error={error} onRetry={() => refetch()} />}
      {!data && !error && <LoadingSkeleton lines={8} />}
    </>
  )
}

/** A link to the message log with its previous filters. */
function BackToLog() {
  const { accountId } = useAccount()
  const state: unknown = useLocation().state
  const search = typeof state === 'object' && state !== null && 'log' in state ? String(state.log) : ''
  return <BackLink to={{ pathname: `/${accountId}/messages`, search }}>{t`Messages`}</BackLink>
}

function History({ history }: { history: MessageHistory }) {
  const { message } = history
  return (
    <>
      <Stack mb={message.error || message.status === 'pending' ? 'lg' : 0}>
        <FailureAlert history={history} />
        <UnknownOutcomeAlert message={message} />
      </Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0}>
        <div>
          <Section title={t`Timeline`}>
            <MessageTimeline history={history} />
          </Section>
          <Section title={t`Preview`}>
            <SentPreview history={history} />
          </Section>
        </div>
        <div>
          <Section title={t`Details`}>
            <MessageDetails message={message} />
          </Section>
          <Section
            title={t`Webhook deliveries`}
            description={t`Events sent to your endpoints for this message. Open one to see its attempts.`}
          >
            <MessageDeliveries history={history} />
          </Section>
        </div>
      </SimpleGrid>
    </>
  )
}
