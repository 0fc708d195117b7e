import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { useAccount } from '../../session/account.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { Section } from '../../ui/section.tsx'
import { MessageStatusBadge } from '../messages/message-status.tsx'
import styles from './overview.module.css'
import type { LatestMessagesQuery } from './use-overview.ts'

export function LatestMessages({ latest }: { latest: LatestMessagesQuery }) {
  const { accountId } = useAccount()
  return (
    <Section title="Latest messages">
      {latest.isPending && <LoadingSkeleton />}
      {latest.isError && <ErrorAlert error={latest.error} onRetry={() => void latest.refetch()} />}
      {latest.data?.length === 0 && <Text size="sm">Messages this old are no longer listed.</Text>}
      {latest.data && latest.data.length > 0 && (
        <>
          <Stack component="ul" gap={0} m={0} p={0} aria-label="Latest messages" className={styles['list']}>
            {latest.data.map((message) => (
              <LatestMessage key={message.messageId} message={message} />
            ))}
          </Stack>
          <Anchor component={Link} to={`/${accountId}/messages`} size="sm" display="inline-block" mt="sm">
            All messages
          </Anchor>
        </>
      )}
    </Section>
  )
}

function LatestMessage({ message: { messageId, to, status, template, createdAt } }: { message: Message }) {
  const { accountId } = useAccount()
  return (
    <li className={styles['latest']}>
      <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm" className={styles['numbers']}>
        <Anchor component={Link} to={`/${accountId}/messages/${messageId}`} fz="inherit" fw={500}>
          +{to}
        </Anchor>
        <MessageStatusBadge status={status} />
      </Group>
      <Group justify="space-between" wrap="nowrap" gap="sm" mt={2} fz="xs" c="dimmed">
        <Text span inherit truncate title={template}>
          {template}
        </Text>
        <DateTime at={createdAt} />
      </Group>
    </li>
  )
}
