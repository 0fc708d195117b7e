import { useDisclosure } from '@mantine/hooks'
import { IconTrash } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { Section } from '../../ui/section.tsx'
import { countWaiting } from './endpoint-state.tsx'
import { webhooksKey } from './use-endpoints.ts'

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
