import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Menu, Stack } from '@mantine/core'
import {
  IconPlayerPause,
  IconPlayerPlay,
  IconReceipt,
  IconSpeakerphone,
  IconStar,
  IconTrash,
} from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'

/** Less frequent actions. */
export function MoreMenu({ account, onChanged }: { account: WhatsAppAccount; onChanged: () => void }) {
  const { canChange } = useAccount()
  const [confirming, setConfirming] = useState<'deactivate' | 'remove'>()
  const makeDefault = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.setDefault.mutate,
    done: t`Default WhatsApp account changed.`,
  })
  const activate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.activate.mutate,
    done: t`WhatsApp account activated.`,
    onDone: onChanged,
  })
  const other = account.marketingSetting === 'automatic' ? 'cloud_api' : 'automatic'
  const setMarketing = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: (named) => api.whatsAppAccount.setMarketing.mutate({ ...named, setting: other }),
    done: t`Endpoint of marketing messages changed.`,
  })
  const otherAccount = account.messagingAccountSetting === 'omit' ? 'send' : 'omit'
  const setMessagingAccount = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: (named) => api.whatsAppAccount.setMessagingAccount.mutate({ ...named, setting: otherAccount }),
    done: t`Messaging account of sends changed.`,
  })
  const button = <ChangeButton size="xs" variant="default">{t`More`}</ChangeButton>
  if (!canChange) return button
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>{button}</Menu.Target>
        <Menu.Dropdown>
          {!account.isDefault && (
            <Menu.Item leftSection={<IconStar size={16} />} onClick={() => makeDefault.mutate()}>
              <Trans>Make default</Trans>
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconSpeakerphone size={16} />} onClick={() => setMarketing.mutate()}>
            {other === 'cloud_api' ? t`Send marketing by Cloud API` : t`Choose marketing API automatically`}
          </Menu.Item>
          <Menu.Item leftSection={<IconReceipt size={16} />} onClick={() => setMessagingAccount.mutate()}>
            {otherAccount === 'send' ? t`Name this WABA as payer` : t`Let WhatsApp choose the payer`}
          </Menu.Item>
          {account.active ? (
            <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => setConfirming('deactivate')}>
              <Trans>Deactivate</Trans>
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => activate.mutate()}>
              <Trans>Activate</Trans>
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={() => setConfirming('remove')}
          >
            <Trans>Remove</Trans>
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
    done: t`WhatsApp account deactivated.`,
    onDone: () => {
      onDeactivated()
      onClose()
    },
  })
  return (
    <ConfirmModal
      opened={opened}
      onClose={onClose}
      title={t`Deactivate this WhatsApp account?`}
      consequence={
        <>
          <Trans>
            Requests that use phone number ID {account.phoneNumberId} are rejected until you activate it again.
          </Trans>{' '}
          {account.isDefault && (
            <Trans>Requests that don’t set accountId are rejected too, because it is the default.</Trans>
          )}{' '}
          <Trans>Its templates and messages are kept.</Trans>
        </>
      }
      confirmLabel={t`Deactivate`}
      change={deactivate}
    />
  )
}

function RemoveModal({ account, opened, onClose }: { account: WhatsAppAccount; opened: boolean; onClose: () => void }) {
  const remove = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.remove.mutate,
    done: t`WhatsApp account removed.`,
    onDone: onClose,
    // The dialog shows the error.
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
      title={t`Remove this WhatsApp account?`}
      consequence={
        <Stack gap="sm">
          <span>
            <Trans>
              Waybill deletes the access token and the app secret of phone number ID {account.phoneNumberId}, and its
              templates unless another of your WhatsApp accounts shares them. The account can no longer send messages.
              Your messages stay listed, and nothing changes at WhatsApp.
            </Trans>
          </span>
          {remove.isError && <ErrorAlert title={t`Account not removed`} error={remove.error} />}
        </Stack>
      }
      confirmLabel={t`Remove`}
      change={remove}
    />
  )
}
