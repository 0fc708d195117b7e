import { Anchor, Button, SimpleGrid } from '@mantine/core'
import { IconArrowLeft, IconMailOff } from '@tabler/icons-react'
import { Link, useLocation, useParams } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { useAccount } from '../../session/account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Section } from '../../ui/section.tsx'
import { MessageFacts } from './message-facts.tsx'
import { MessageStatusBadge } from './message-status.tsx'
import { MessageTimeline } from './message-timeline.tsx'
import { MessageWebhooks } from './message-webhooks.tsx'
import { useMessage, type MessageHistory } from './use-message.ts'
import { WhyItFailed } from './why-it-failed.tsx'

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
      {!data && error && readFailure(error).code === 'MESSAGE_NOT_FOUND' && <NoSuchMessage />}
      {!data && error && readFailure(error).code !== 'MESSAGE_NOT_FOUND' && (
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      )}
      {!data && !error && <LoadingSkeleton lines={8} />}
    </>
  )
}

/** To the log as it was left, with its filters. */
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
      {message.error && <WhyItFailed error={message.error} {...(failure && { failure })} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0}>
        <Section title="What became of it">
          <MessageTimeline message={message} />
        </Section>
        <Section title="About the message">
          <MessageFacts message={message} />
        </Section>
      </SimpleGrid>
      <MessageWebhooks history={history} />
    </>
  )
}

function NoSuchMessage() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconMailOff}
      title="There is no such message"
      action={
        <Button component={Link} to={`/${accountId}/messages`} variant="default">
          Show all messages
        </Button>
      }
    >
      The address may be mistyped, or the message is older than what this server keeps.
    </EmptyState>
  )
}
