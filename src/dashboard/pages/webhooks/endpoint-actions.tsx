import { useDisclosure } from '@mantine/hooks'
import { IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { Section } from '../../ui/page.tsx'
import { countWaiting } from './endpoint.tsx'
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

export function RemoveSection({ endpoint: { endpointId, waiting } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [asking, { open, close }] = useDisclosure()
  const navigate = useNavigate()
  const remove = useChange({
    change: () => settings.webhook.remove.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: ({ dropped }) =>
      dropped === 0 ? 'The endpoint was removed.' : `The endpoint was removed. ${countWaiting(dropped)} dropped.`,
    onDone: () => void navigate(`/${accountId}/webhooks`, { replace: true }),
  })
  return (
    <>
      <Section
        title="Remove"
        description="Forgets the endpoint and its secrets. To pause it, disable it instead."
        actions={
          <ChangeButton variant="default" leftSection={<IconTrash size={16} />} onClick={open}>
            Remove endpoint
          </ChangeButton>
        }
      />
      <ConfirmModal
        opened={asking}
        onClose={close}
        title="Remove the endpoint?"
        consequence={`${describeLoss(waiting)} Its secrets and its deliveries are forgotten. What happened to your messages stays: another endpoint can recover it.`}
        confirmLabel="Remove endpoint"
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </>
  )
}

function describeLoss(waiting: number): string {
  if (waiting === 0) return 'Nothing waits for it now.'
  return waiting === 1
    ? '1 delivery waits for it and is dropped.'
    : `${countWaiting(waiting)} wait for it and are dropped.`
}
