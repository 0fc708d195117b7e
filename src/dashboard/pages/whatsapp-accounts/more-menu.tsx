import { Menu } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconStar, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DeactivateModal } from './deactivate-modal.tsx'
import { RemoveModal } from './remove-modal.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-account-change.ts'

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
