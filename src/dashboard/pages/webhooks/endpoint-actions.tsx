import { useDisclosure } from '@mantine/hooks'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { webhooksKey } from './use-endpoints.ts'

export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  return endpoint.state === 'enabled' ? <Disable endpoint={endpoint} /> : <Enable endpoint={endpoint} />
}

function Enable({ endpoint: { endpointId, waiting } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const enable = useChange({
    change: () => settings.webhook.enable.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: waiting > 0 ? 'The endpoint is enabled. What waited goes now.' : 'The endpoint is enabled.',
  })
  return (
    <ChangeButton leftSection={<IconPlayerPlay size={16} />} loading={enable.isPending} onClick={() => enable.mutate()}>
      Enable
    </ChangeButton>
  )
}

function Disable({ endpoint: { endpointId } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [asking, { open, close }] = useDisclosure()
  const disable = useChange({
    change: () => settings.webhook.disable.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: 'The endpoint is disabled. Its deliveries wait.',
    onDone: close,
  })
  return (
    <>
      <ChangeButton variant="default" leftSection={<IconPlayerPause size={16} />} onClick={open}>
        Disable
      </ChangeButton>
      <ConfirmModal
        opened={asking}
        onClose={close}
        title="Disable the endpoint?"
        consequence="Nothing is delivered to it until you enable it again. New events wait for it, for as long as this server keeps them. A delivery that is under way is not called back."
        confirmLabel="Disable endpoint"
        pending={disable.isPending}
        onConfirm={() => disable.mutate()}
      />
    </>
  )
}
