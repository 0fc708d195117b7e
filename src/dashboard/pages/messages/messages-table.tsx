import { Anchor, Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { Link, useLocation } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { MessageStatusBadge } from './message-status.tsx'

interface MessagesTableProps {
  messages: Message[]
  /** Those of an earlier filter, until the answer is there. */
  stale: boolean
}

/** A table, or on a phone a list. */
export function MessagesTable({ messages, stale }: MessagesTableProps) {
  return (
    <Paper withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      <Table visibleFrom="sm" verticalSpacing="sm" horizontalSpacing="md" fz="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            <Table.Th>Recipient</Table.Th>
            <Table.Th>Template</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>External ID</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {messages.map((message) => (
            <Table.Tr key={message.messageId}>
              <Table.Td c="dimmed">
                <DateTime at={message.createdAt} />
              </Table.Td>
              <Table.Td>
                <MessageLink message={message} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <TemplateName message={message} />
              </Table.Td>
              <Table.Td>
                <MessageStatusBadge status={message.status} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{message.externalId}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {messages.map((message, index) => (
          <Box
            key={message.messageId}
            component="li"
            p="md"
            style={index === 0 ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}
          >
            <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm">
              <MessageLink message={message} />
              <Box style={{ flexShrink: 0 }}>
                <MessageStatusBadge status={message.status} />
              </Box>
            </Group>
            <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <TemplateName message={message} />
            </Text>
            <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <DateTime at={message.createdAt} />
              {message.externalId !== undefined && ` · ${message.externalId}`}
            </Text>
          </Box>
        ))}
      </Stack>
    </Paper>
  )
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
