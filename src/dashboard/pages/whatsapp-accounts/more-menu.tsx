import { Menu, Stack } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconStar, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'

interface MoreMenuProps {
  account: WhatsAppAccount
  onChanged: () => void
}

/** Less frequent actions. */
export function MoreMenu({ account, onChanged }: MoreMenuProps) {
  const { canChange } = useAccount()
  const [confirming, setConfirming] = useState<'deactivate' | 'remove'>()
  const makeDefault = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.setDefault.mutate,
    done: 'Default WhatsApp account changed.',
  })
  const activate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.activate.mutate,
    done: 'WhatsApp account activated.',
    onDone: onChanged,
  })
  const button = (
    <ChangeButton variant="default" leftSection={<IconDots size={16} />}>
      More
    </ChangeButton>
  )
  if (!canChange) return button
  return (
    <>
      {/* The focus placeholder is not an allowed child of a menu (ARIA 1.2). */}
      <Menu position="bottom-end" width={200} withInitialFocusPlaceholder={false}>
        <Menu.Target>{button}</Menu.Target>
        <Menu.Dropdown>
          {!account.isDefault && (
            <Menu.Item leftSection={<IconStar size={16} />} onClick={() => makeDefault.mutate()}>
              Make default
            </Menu.Item>
          )}
          {account.active ? (
            <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => setConfirming('deactivate')}>
              Deactivate
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => activate.mutate()}>
              Activate
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={() => setConfirming('remove')}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <DeactivateModal
        account={account}
        opened={confirming === 'deactivate'}
        onClose={() => setConfirming(undefined)}
        onDeactivated={onChanged}
      />
      <RemoveModal account={account} opened={confirming === 'remove'} onClose={() => setConfirming(undefined)} />
    </>
  )
}

interface DeactivateModalProps {
  account: WhatsAppAccount
  opened: boolean
  onClose: () => void
  onDeactivated: () => void
}

function DeactivateModal({ account, opened, onClose, onDeactivated }: DeactivateModalProps) {
  const deactivate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.deactivate.mutate,
    done: 'WhatsApp account deactivated.',
    onDone: () => {
      onDeactivated()
      onClose()
    },
  })
  return (
    <ConfirmModal
      opened={opened}
      onClose={onClose}
      title="Deactivate this WhatsApp account?"
      consequence={
        <>
          Requests that use phone number ID {account.phoneNumberId} are rejected until you activate it again.{' '}
          {account.isDefault && ' Requests that don’t set accountId are rejected too, because it is the default.'} Its
          templates and messages are kept.
        </>
      }
      confirmLabel="Deactivate"
      pending={deactivate.isPending}
      onConfirm={() => deactivate.mutate()}
    />
  )
}

interface RemoveModalProps {
  account: WhatsAppAccount
  opened: boolean
  onClose: () => void
}

function RemoveModal({ account, opened, onClose }: RemoveModalProps) {
  const remove = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.remove.mutate,
    done: 'WhatsApp account removed.',
    onDone: onClose,
    // Shown in the dialog.
    onFailure: () => {},
  })
  const close = () => {
    remove.reset()
    onClose()
  }
  return (
    <ConfirmModal
      opened={opened}
      onClose={close}
      title="Remove this WhatsApp account?"
      consequence={
        <Stack gap="sm">
          <span>
            Waybill deletes the access token and the app secret of phone number ID {account.phoneNumberId}, and its
            templates unless another of your WhatsApp accounts shares them. The account can no longer send messages.
            Your messages stay listed, and nothing changes at WhatsApp.
          </span>
          {remove.isError && <ErrorAlert title="Account not removed" error={remove.error} />}
        </Stack>
      }
      confirmLabel="Remove"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
