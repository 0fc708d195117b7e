import { t } from '@lingui/core/macro'
import { useNavigate } from 'react-router'
import type { ConsoleAccount } from '../../../../contracts/dashboard/console.ts'
import { operatorApi } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey } from '../../session/session.ts'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { consoleKey } from './use-console.ts'

export interface AccountAction {
  kind: 'view' | 'suspend' | 'resume'
  account: ConsoleAccount
}

/** Explains an action and asks for confirmation. */
export function AccountActionModal({ action, onClose }: { action: AccountAction; onClose: () => void }) {
  const { kind, account } = action
  switch (kind) {
    case 'view':
      return <View account={account} onClose={onClose} />
    case 'suspend':
      return <Suspend account={account} onClose={onClose} />
    case 'resume':
      return <Resume account={account} onClose={onClose} />
  }
}

interface ActionProps {
  account: ConsoleAccount
  onClose: () => void
}

function View({ account: { accountId, name }, onClose }: ActionProps) {
  const navigate = useNavigate()
  const view = useChange({
    change: () => operatorApi.account.view.mutate({ accountId }),
    invalidates: [sessionKey],
    onDone: () => void navigate(`/${accountId}/overview`),
  })
  return (
    <ConfirmModal
      opened
      onClose={onClose}
      title={t`View ${name}?`}
      consequence={t`You can read this account for one hour, including the phone numbers of recipients. You cannot change it, and secrets stay hidden. The audit log shows its members that you opened it, with your email address.`}
      confirmLabel={t`View account`}
      color="waybill"
      pending={view.isPending}
      onConfirm={() => view.mutate()}
    />
  )
}

function Suspend({ account: { accountId, name }, onClose }: ActionProps) {
  const suspend = useChange({
    change: () => operatorApi.account.suspend.mutate({ accountId }),
    invalidates: [consoleKey, sessionKey],
    done: t`${name} is suspended.`,
    onDone: onClose,
  })
  return (
    <ConfirmModal
      opened
      onClose={onClose}
      title={t`Suspend ${name}?`}
      consequence={t`Its API key and all its sends are rejected at once, until an operator resumes the account. Members can still sign in and read, and statuses of earlier messages are still delivered.`}
      confirmLabel={t`Suspend account`}
      pending={suspend.isPending}
      onConfirm={() => suspend.mutate()}
    />
  )
}

function Resume({ account: { accountId, name }, onClose }: ActionProps) {
  const resume = useChange({
    change: () => operatorApi.account.resume.mutate({ accountId }),
    invalidates: [consoleKey, sessionKey],
    done: t`${name} is resumed.`,
    onDone: onClose,
  })
  return (
    <ConfirmModal
      opened
      onClose={onClose}
      title={t`Resume ${name}?`}
      consequence={t`Its API key and its sends work again at once.`}
      confirmLabel={t`Resume account`}
      color="waybill"
      pending={resume.isPending}
      onConfirm={() => resume.mutate()}
    />
  )
}
