import { Group, Switch, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/account.ts'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { apiAccessKey } from './use-api-access.ts'

export function AccessSection({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const [asking, { open, close }] = useDisclosure()
  const change = useChange({
    change: (enabled: boolean) => settings.publicApi.setAccess.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? 'API access is on.' : 'API access is off.'),
    onDone: close,
  })
  return (
    <Section
      title="API access"
      description="While it is off, every request with your key is refused. Nothing else changes."
      actions={<StatusBadge tone={enabled ? 'good' : 'bad'}>{enabled ? 'On' : 'Off'}</StatusBadge>}
    >
      <Tooltip label={viewersHint} disabled={canChange} position="top-start">
        <Group w="fit-content">
          <Switch
            label="Let applications use the API"
            checked={enabled}
            disabled={!canChange || change.isPending}
            onChange={() => (enabled ? open() : change.mutate(true))}
          />
        </Group>
      </Tooltip>
      {!canChange && (
        <Text size="xs" c="dimmed" mt="xs">
          {viewersHint}.
        </Text>
      )}
      <ConfirmModal
        opened={asking}
        onClose={close}
        title="Switch API access off?"
        consequence="From then on every request with your key is refused, so your applications send nothing. Messages that were sent already are still delivered and reported."
        confirmLabel="Switch off"
        pending={change.isPending}
        onConfirm={() => change.mutate(false)}
      />
    </Section>
  )
}
