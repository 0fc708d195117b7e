import { ActionIcon, Code, Group, Paper, Stack, Tooltip } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useAccount } from '../../session/account.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { covers } from './covers.ts'
import type { ApiAccess } from './use-api-access.ts'

interface AllowListEntriesProps extends Pick<ApiAccess, 'allowList' | 'you'> {
  pending: boolean
  onRemove: (entry: string) => void
}

export function AllowListEntries({ allowList, you, pending, onRemove }: AllowListEntriesProps) {
  const { canChange } = useAccount()
  if (allowList.length === 0) return null
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {allowList.map((entry) => (
        <Paper key={entry} component="li" withBorder px="sm" py={6} bg="var(--waybill-page)">
          <Group justify="space-between" wrap="nowrap" mih={28}>
            <Group gap="sm">
              <Code fz="sm" bg="transparent" p={0}>
                {entry}
              </Code>
              {covers([entry], you.address) && <StatusBadge tone="good">You</StatusBadge>}
            </Group>
            {canChange && (
              <Tooltip label={`Remove ${entry}`}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  disabled={pending}
                  aria-label={`Remove ${entry}`}
                  onClick={() => onRemove(entry)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}
