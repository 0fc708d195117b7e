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
  const { accountId } = account
  const { done, ...texts } = describe(action)
  const navigate = useNavigate()
  const act = useChange({
    change: (): Promise<unknown> => operatorApi.account[kind].mutate({ accountId }),
    invalidates: kind === 'view' ? [sessionKey] : [consoleKey, sessionKey],
    ...(done !== undefined && { done }),
    onDone: () => (kind === 'view' ? void navigate(`/${accountId}/overview`) : onClose()),
  })
  return (
    <ConfirmModal opened onClose={onClose} {...texts} color={kind === 'suspend' ? 'red.9' : 'waybill'} change={act} />
  )
}

function describe({ kind, account: { name } }: AccountAction) {
  switch (kind) {
    case 'view':
      return {
        title: t`View ${name}?`,
        consequence: t`You can read this account for one hour, including the phone numbers of recipients. You cannot change it, and secrets stay hidden. The audit log shows its members that you opened it, with your email address.`,
        confirmLabel: t`View account`,
        done: undefined,
      }
    case 'suspend':
      return {
        title: t`Suspend ${name}?`,
        consequence: t`Its API key and all its sends are rejected at once, until an operator resumes the account. Members can still sign in and read, and statuses of earlier messages are still delivered.`,
        confirmLabel: t`Suspend account`,
        done: t`${name} is suspended.`,
      }
    case 'resume':
      return {
        title: t`Resume ${name}?`,
        consequence: t`Its API key and its sends work again at once.`,
        confirmLabel: t`Resume account`,
        done: t`${name} is resumed.`,
      }
  }
}
