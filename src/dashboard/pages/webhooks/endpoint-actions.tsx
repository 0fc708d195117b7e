import { plural, t } from '@lingui/core/macro'
import { useDisclosure } from '@mantine/hooks'
import { IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { countWaiting } from './endpoint.tsx'
import { webhooksKey } from './use-endpoints.ts'

export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  return endpoint.state === 'enabled' ? <Disable endpoint={endpoint} /> : <Enable endpoint={endpoint} />
}

function Enable({ endpoint: { endpointId, waiting } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const enable = useChange({
    change: () => api.webhook.enable.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: waiting > 0 ? t`Endpoint enabled. Waiting deliveries are being sent.` : t`Endpoint enabled.`,
  })
  return <ChangeButton icon={IconPlayerPlay} change={enable}>{t`Enable`}</ChangeButton>
}

function Disable({ endpoint: { endpointId } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const disable = useChange({
    change: () => api.webhook.disable.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: t`Endpoint disabled. New events are queued.`,
    onDone: close,
  })
  return (
    <>
      <ChangeButton variant="default" icon={IconPlayerPause} onClick={open}>{t`Disable`}</ChangeButton>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Disable the endpoint?`}
        consequence={t`Nothing is delivered until you enable it again. New events are queued until the retention period of this server ends. A delivery in progress is not cancelled.`}
        confirmLabel={t`Disable endpoint`}
        change={disable}
      />
    </>
  )
}

export function RemoveSection({ endpoint: { endpointId, waiting } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const navigate = useNavigate()
  const remove = useChange({
    change: () => api.webhook.remove.mutate({ accountId, endpointId }),
    invalidates: [webhooksKey(accountId)],
    done: ({ dropped }) =>
      dropped === 0 ? t`Endpoint removed.` : t`Endpoint removed. ${countWaiting(dropped)} dropped.`,
    onDone: () => void navigate(`/${accountId}/webhooks`, { replace: true }),
  })
  return (
    <>
      <Section
        title={t`Remove`}
        description={t`Deletes the endpoint and its secrets. To pause deliveries, disable it instead.`}
        actions={<ChangeButton variant="default" icon={IconTrash} onClick={open}>{t`Remove endpoint`}</ChangeButton>}
      />
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Remove the endpoint?`}
        consequence={t`${describeLoss(waiting)} Its secrets and delivery history are deleted. Message events are kept, and another endpoint can recover them.`}
        confirmLabel={t`Remove endpoint`}
        change={remove}
      />
    </>
  )
}

function describeLoss(waiting: number): string {
  if (waiting === 0) return t`No deliveries are waiting.`
  return plural(waiting, { one: '# waiting delivery is dropped.', other: '# waiting deliveries are dropped.' })
}
