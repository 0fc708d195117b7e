import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { useSync } from '../templates/use-sync.ts'

/** A new number can send nothing before its templates are known. */
export function AddedStep({ onClose }: { onClose: () => void }) {
  const { accountId } = useAccount()
  const sync = useSync({ onFailure: () => {} })
  if (sync.isSuccess)
    return (
      <Stack>
        <Alert icon={<IconCircleCheck />} title="The templates were read" role="status">
          {describe(sync.data)}
        </Alert>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button component={Link} to={`/${accountId}/templates`}>
            See the templates
          </Button>
        </Group>
      </Stack>
    )
  return (
    <Stack>
      <Text size="sm">Next, read the templates from WhatsApp: only what Waybill knows can be sent.</Text>
      {sync.isError && <ErrorAlert title="The templates were not read" error={sync.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Later
        </Button>
        <Button data-autofocus loading={sync.isPending} onClick={() => sync.mutate()}>
          Sync templates
        </Button>
      </Group>
    </Stack>
  )
}

function describe({ synced, approved }: { synced: number; approved: number }): string {
  if (synced === 0) return 'WhatsApp has no templates of yours yet. Write one in WhatsApp Manager.'
  return `${synced} read from WhatsApp, ${approved} of them approved.`
}
