import { t } from '@lingui/core/macro'
import { Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { Ref } from 'react'
import { say } from '../../language/facts.ts'
import type { ListedMessage } from '../../../../contracts/dashboard/message.ts'
import { useUser } from '../../session/session.ts'
import { LogTime } from '../../ui/date-time.tsx'
import { ErrorText } from '../../ui/log.tsx'
import { showRecipient } from '../../ui/phone-number.ts'
import { useRowClicks } from '../../ui/row-clicks.ts'
import { MessageStatusBadge, SimulatedBadge } from './message-status.tsx'
import styles from './messages-table.module.css'
import type { LogAddress } from './use-log-address.ts'
import { TextLink } from '../../ui/button.tsx'

interface MessagesTableProps {
  messages: ListedMessage[]
  /** Whether these are results of the previous filters. */
  stale: boolean
  /** Whether the panel leaves too little space for columns. */
  asList: boolean
  address: LogAddress
  ref: Ref<HTMLDivElement>
}

interface RowProps {
  message: ListedMessage
  address: LogAddress
}

/** A table, or a list on a small screen and next to the panel. */
export function MessagesTable({ messages, stale, asList, address, ref }: MessagesTableProps) {
  return (
    <Paper ref={ref} withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      {!asList && <Rows messages={messages} address={address} />}
      <Stack
        {...(!asList && { hiddenFrom: 'lg' })}
        gap={0}
        component="ul"
        aria-label={t`Messages`}
        m={0}
        p={0}
        style={{ listStyle: 'none' }}
      >
        {messages.map((message) => (
          <MessageItem key={message.messageId} message={message} address={address} />
        ))}
      </Stack>
    </Paper>
  )
}

function Rows({ messages, address }: Pick<MessagesTableProps, 'messages' | 'address'>) {
  const { sandbox } = useUser()
  // Without external IDs, the reasons get their column. Where few fit beside the others, the log is a list.
  const hasExternalIds = messages.some(({ externalId }) => externalId !== undefined)
  return (
    <Table visibleFrom="lg" horizontalSpacing="sm" fz="sm" highlightOnHover className={styles['table']}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={172}>{t`Time`}</Table.Th>
          {/* Wide enough for 15 digits, the maximum, and an icon. */}
          <Table.Th w={sandbox ? 196 : 172}>{t`Recipient`}</Table.Th>
          <Table.Th w="20%">{t`Template`}</Table.Th>
          <Table.Th w={118}>{t`Status`}</Table.Th>
          <Table.Th>{t`Reason`}</Table.Th>
          {hasExternalIds && <Table.Th w="12%">{t`External ID`}</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {messages.map((message) => (
          <MessageRow key={message.messageId} message={message} address={address} hasExternalIds={hasExternalIds} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function MessageRow({ message, address, hasExternalIds }: RowProps & { hasExternalIds: boolean }) {
  const clicks = useRowClicks(address.linkTo(message.messageId))
  const isOpen = message.messageId === address.openedId
  return (
    <Table.Tr className={styles['clickable']} data-open={isOpen || undefined} {...clicks}>
      <Table.Td c="dimmed">
        <LogTime at={message.createdAt} />
      </Table.Td>
      <Table.Td>
        <MessageLink message={message} address={address} /> <SimulatedBadge to={message.to} />
      </Table.Td>
      <Table.Td title={`${message.template} ${message.language}`}>
        <TemplateName message={message} />
      </Table.Td>
      <Table.Td>
        <MessageStatusBadge status={message.status} />
      </Table.Td>
      <Table.Td title={describeReason(message)}>
        <div className={styles['reason']}>{sayReason(message)}</div>
      </Table.Td>
      {hasExternalIds && <Table.Td title={message.externalId}>{message.externalId}</Table.Td>}
    </Table.Tr>
  )
}

function MessageItem({ message, address }: RowProps) {
  const clicks = useRowClicks(address.linkTo(message.messageId))
  const isOpen = message.messageId === address.openedId
  return (
    <Box
      component="li"
      p="sm"
      className={`${styles['item']} ${styles['clickable']}`}
      data-open={isOpen || undefined}
      {...clicks}
    >
      <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm">
        <span>
          <MessageLink message={message} address={address} /> <SimulatedBadge to={message.to} />
        </span>
        <Box style={{ flexShrink: 0 }}>
          <MessageStatusBadge status={message.status} />
        </Box>
      </Group>
      <Text size="sm" mt={2} style={{ overflowWrap: 'anywhere' }}>
        <TemplateName message={message} />
      </Text>
      {message.error && (
        <Text size="xs" mt={2} lineClamp={2} title={describeReason(message)} style={{ overflowWrap: 'anywhere' }}>
          <ErrorText code={message.error.code} text={sayReason(message)} />
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
        <LogTime at={message.createdAt} />
        {message.externalId !== undefined && ` · ${message.externalId}`}
      </Text>
    </Box>
  )
}

function MessageLink({ message: { messageId, to }, address }: RowProps) {
  return (
    <TextLink
      {...address.linkTo(messageId)}
      data-message={messageId}
      aria-current={messageId === address.openedId || undefined}
      fz="inherit"
      fw={500}
      underline="hover"
      style={{ fontVariantNumeric: 'tabular-nums' }}
    >
      {showRecipient(to)}
    </TextLink>
  )
}

function TemplateName({ message: { template, language } }: { message: ListedMessage }) {
  return (
    <>
      {template}{' '}
      <Text span inherit c="dimmed">
        {language}
      </Text>
    </>
  )
}

/** Why the message failed: our explanation, then WhatsApp's text. */
function describeReason({ error, meaning, facts }: ListedMessage): string | undefined {
  if (!error) return undefined
  const own = `${error.code} ${error.message}`
  return meaning === undefined ? own : `${say({ meaning, facts }, 'meaning')}\n${own}`
}

/** Why the message failed, with the same text as in the overview. */
function sayReason({ error, meaning, facts }: ListedMessage): string | undefined {
  return meaning === undefined ? error?.message : say({ meaning, facts }, 'meaning')
}
