import { Anchor, Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { MouseEvent } from 'react'
import { Link, useHref, useLocation, useNavigate } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { LogTime } from '../../ui/date-time.tsx'
import { MessageStatusBadge } from './message-status.tsx'
import styles from './messages-table.module.css'

interface MessagesTableProps {
  messages: Message[]
  /** Whether these are results of the previous filter. */
  stale: boolean
}

/** A table; on a small screen, a list. */
export function MessagesTable({ messages, stale }: MessagesTableProps) {
  return (
    <Paper withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      <Table visibleFrom="md" horizontalSpacing="sm" fz="sm" highlightOnHover className={styles['table']}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={182}>Time</Table.Th>
            <Table.Th w={138}>Recipient</Table.Th>
            <Table.Th>Template</Table.Th>
            <Table.Th w={118}>Status</Table.Th>
            <Table.Th w="20%">Reason</Table.Th>
            <Table.Th w="14%" visibleFrom="lg">
              External ID
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {messages.map((message) => (
            <MessageRow key={message.messageId} message={message} />
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="md" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {messages.map((message) => (
          <MessageItem key={message.messageId} message={message} />
        ))}
      </Stack>
    </Paper>
  )
}

function MessageRow({ message }: { message: Message }) {
  const open = useOpenMessage(message)
  return (
    <Table.Tr className={styles['clickable']} onClick={open}>
      <Table.Td c="dimmed">
        <LogTime at={message.createdAt} />
      </Table.Td>
      <Table.Td>
        <MessageLink message={message} />
      </Table.Td>
      <Table.Td title={`${message.template} ${message.language}`}>
        <TemplateName message={message} />
      </Table.Td>
      <Table.Td>
        <MessageStatusBadge status={message.status} />
      </Table.Td>
      <Table.Td title={message.error && `${message.error.code} ${message.error.message}`}>
        <Reason message={message} />
      </Table.Td>
      <Table.Td visibleFrom="lg" title={message.externalId}>
        {message.externalId}
      </Table.Td>
    </Table.Tr>
  )
}

function MessageItem({ message }: { message: Message }) {
  const open = useOpenMessage(message)
  return (
    <Box component="li" p="sm" className={`${styles['item']} ${styles['clickable']}`} onClick={open}>
      <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm">
        <MessageLink message={message} />
        <Box style={{ flexShrink: 0 }}>
          <MessageStatusBadge status={message.status} />
        </Box>
      </Group>
      <Text size="sm" mt={2} style={{ overflowWrap: 'anywhere' }}>
        <TemplateName message={message} />
      </Text>
      {message.error && (
        <Text size="xs" mt={2} style={{ overflowWrap: 'anywhere' }}>
          <Reason message={message} />
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
        <LogTime at={message.createdAt} />
        {message.externalId !== undefined && ` · ${message.externalId}`}
      </Text>
    </Box>
  )
}

/**
 * Opens the message on a click anywhere in its row. Keyboards and screen readers use the link. A click that selects text
 * opens nothing.
 */
function useOpenMessage({ messageId }: Message): (event: MouseEvent) => void {
  const navigate = useNavigate()
  const href = useHref(messageId)
  const { search } = useLocation()
  return ({ target, ctrlKey, metaKey }) => {
    const isLink = target instanceof Element && target.closest('a') !== null
    if (isLink || window.getSelection()?.isCollapsed === false) return
    if (ctrlKey || metaKey) window.open(href, '_blank', 'noopener')
    else void navigate(messageId, { state: { log: search } })
  }
}

function MessageLink({ message: { messageId, to } }: { message: Message }) {
  const { search } = useLocation()
  return (
    <Anchor
      component={Link}
      to={messageId}
      state={{ log: search }}
      fz="inherit"
      fw={500}
      underline="hover"
      style={{ fontVariantNumeric: 'tabular-nums' }}
    >
      +{to}
    </Anchor>
  )
}

function TemplateName({ message: { template, language } }: { message: Message }) {
  return (
    <>
      {template}{' '}
      <Text span inherit c="dimmed">
        {language}
      </Text>
    </>
  )
}

/** Why the message failed: the code and WhatsApp's words. */
function Reason({ message: { error } }: { message: Message }) {
  if (!error) return null
  return (
    <>
      <Text span inherit ff="monospace" fz="xs" mr={6}>
        {error.code}
      </Text>
      <Text span inherit c="dimmed">
        {error.message}
      </Text>
    </>
  )
}
