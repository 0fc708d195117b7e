import { Anchor, Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { MouseEvent, Ref } from 'react'
import { Link, useHref } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { LogTime } from '../../ui/date-time.tsx'
import { MessageStatusBadge } from './message-status.tsx'
import styles from './messages-table.module.css'
import type { LogAddress } from './use-log-address.ts'

interface MessagesTableProps {
  messages: Message[]
  /** Whether these are results of the previous filter. */
  stale: boolean
  /** The panel stands beside the table, which then has fewer columns. */
  narrow: boolean
  address: LogAddress
  ref: Ref<HTMLDivElement>
}

interface RowProps {
  message: Message
  address: LogAddress
  narrow: boolean
}

/** A table; on a small screen, a list. */
export function MessagesTable({ messages, stale, narrow, address, ref }: MessagesTableProps) {
  return (
    <Paper ref={ref} withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      <Table
        visibleFrom="md"
        horizontalSpacing={narrow ? 'xs' : 'sm'}
        fz="sm"
        highlightOnHover
        className={styles['table']}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={narrow ? 158 : 182}>Time</Table.Th>
            <Table.Th w={narrow ? 130 : 138}>Recipient</Table.Th>
            <Table.Th {...(!narrow && { w: '19%' })}>Template</Table.Th>
            <Table.Th w={narrow ? 108 : 118}>Status</Table.Th>
            {!narrow && (
              <>
                <Table.Th>Reason</Table.Th>
                <Table.Th w="14%" visibleFrom="lg">
                  External ID
                </Table.Th>
              </>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {messages.map((message) => (
            <MessageRow key={message.messageId} message={message} address={address} narrow={narrow} />
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="md" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {messages.map((message) => (
          <MessageItem key={message.messageId} message={message} address={address} />
        ))}
      </Stack>
    </Paper>
  )
}

function MessageRow({ message, address, narrow }: RowProps) {
  const clicks = useRowClicks(message, address)
  const isOpen = message.messageId === address.openedId
  return (
    <Table.Tr className={styles['clickable']} data-open={isOpen || undefined} {...clicks}>
      <Table.Td c="dimmed">
        <LogTime at={message.createdAt} />
      </Table.Td>
      <Table.Td>
        <MessageLink message={message} address={address} />
      </Table.Td>
      <Table.Td title={`${message.template} ${message.language}`}>
        <TemplateName message={message} />
      </Table.Td>
      <Table.Td>
        <MessageStatusBadge status={message.status} />
      </Table.Td>
      {!narrow && (
        <>
          <Table.Td title={message.error && `${message.error.code} ${message.error.message}`}>
            <Reason message={message} />
          </Table.Td>
          <Table.Td visibleFrom="lg" title={message.externalId}>
            {message.externalId}
          </Table.Td>
        </>
      )}
    </Table.Tr>
  )
}

function MessageItem({ message, address }: Omit<RowProps, 'narrow'>) {
  const clicks = useRowClicks(message, address)
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
        <MessageLink message={message} address={address} />
        <Box style={{ flexShrink: 0 }}>
          <MessageStatusBadge status={message.status} />
        </Box>
      </Group>
      <Text size="sm" mt={2} style={{ overflowWrap: 'anywhere' }}>
        <TemplateName message={message} />
      </Text>
      {message.error && (
        <Text size="xs" mt={2} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
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
 * A click anywhere in a row acts like one on its link: the middle button and Ctrl open a tab. A click that selects text
 * opens nothing. Keyboards and screen readers use the link.
 */
function useRowClicks({ messageId }: Message, { linkTo, open }: LogAddress) {
  const href = useHref(linkTo(messageId).to)
  return {
    onClick: (event: MouseEvent) => {
      if (!isOwnClick(event) || window.getSelection()?.isCollapsed === false) return
      if (event.ctrlKey || event.metaKey) window.open(href, '_blank', 'noopener')
      else open(messageId)
    },
    onAuxClick: (event: MouseEvent) => {
      if (event.button === middleButton && isOwnClick(event)) window.open(href, '_blank', 'noopener')
    },
    onMouseDown: (event: MouseEvent) => {
      // Otherwise the browser starts to scroll.
      if (event.button === middleButton && isOwnClick(event)) event.preventDefault()
    },
  }
}

const middleButton = 1

/** The link of a row acts by itself. */
function isOwnClick({ target }: MouseEvent): boolean {
  return !(target instanceof Element && target.closest('a') !== null)
}

function MessageLink({ message: { messageId, to }, address }: Omit<RowProps, 'narrow'>) {
  return (
    <Anchor
      component={Link}
      {...address.linkTo(messageId)}
      data-message={messageId}
      aria-current={messageId === address.openedId || undefined}
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
