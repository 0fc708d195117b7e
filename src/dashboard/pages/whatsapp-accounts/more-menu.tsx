import { Menu, Stack } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconStar, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'

interface MoreMenuProps {
  account: WhatsAppAccount
  onChanged: () => void
}

/** What one does seldom with a WhatsApp account. */
export function MoreMenu({ account, onChanged }: MoreMenuProps) {
  const { canChange } = useAccount()
  const [asking, setAsking] = useState<'deactivate' | 'remove'>()
  const makeDefault = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: settings.whatsAppAccount.setDefault.mutate,
    done: 'This is the default WhatsApp account now.',
  })
  const activate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: settings.whatsAppAccount.activate.mutate,
    done: 'The WhatsApp account is active.',
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
      {/* The placeholder that would take the focus is no child that ARIA allows in a menu. */}
      <Menu position="bottom-end" width={200} withInitialFocusPlaceholder={false}>
        <Menu.Target>{button}</Menu.Target>
        <Menu.Dropdown>
          {!account.isDefault && (
            <Menu.Item leftSection={<IconStar size={16} />} onClick={() => makeDefault.mutate()}>
              Make default
            </Menu.Item>
          )}
          {account.active ? (
            <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => setAsking('deactivate')}>
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
            onClick={() => setAsking('remove')}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <DeactivateModal
        account={account}
        opened={asking === 'deactivate'}
        onClose={() => setAsking(undefined)}
        onDeactivated={onChanged}
      />
      <RemoveModal account={account} opened={asking === 'remove'} onClose={() => setAsking(undefined)} />
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
    change: settings.whatsAppAccount.deactivate.mutate,
    done: 'The WhatsApp account is inactive. Nothing is sent from it.',
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
          Nothing is sent from phone number ID {account.phoneNumberId} until you activate it again: requests that name
          it are refused.
          {account.isDefault && ' So are requests that name no account, since it is the default.'} Its templates and
          messages stay.
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
    change: settings.whatsAppAccount.remove.mutate,
    done: 'The WhatsApp account is removed.',
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
            Waybill forgets the access token and the app secret of phone number ID {account.phoneNumberId}, and its
            templates unless another WhatsApp account of yours shares them. Nothing can be sent from it any more. Your
            messages stay listed, and nothing changes at WhatsApp.
          </span>
          {remove.isError && <ErrorAlert title="It was not removed" error={remove.error} />}
        </Stack>
      }
      confirmLabel="Remove"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
