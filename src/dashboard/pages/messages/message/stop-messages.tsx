import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserOff } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Suppression } from '../../../../../contracts/api/suppression.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'
import { useAccount } from '../../../session/session.ts'
import { ChangeButton } from '../../../ui/button.tsx'
import { ConfirmModal } from '../../../ui/confirm-modal.tsx'
import { LogTime } from '../../../ui/date-time.tsx'
import { showRecipient, toRecipientField } from '../../../ui/phone-number.ts'
import { nameCategories, ScopeChoice } from '../../suppressions/scope-choice.tsx'
import { suppressionsKey, useStoppedCategories, useSuppression } from '../../suppressions/use-suppressions.ts'

interface StopMessagesProps {
  to: string
  /** Whether the account stops messages such as this one for everyone on the list. */
  isCategoryStopped: boolean
}

/** Adds the recipient of a message to the suppression list, or shows that they are already on it. */
export function StopMessages({ to, isCategoryStopped }: StopMessagesProps) {
  const entry = useSuppression(to)
  return (
    <>
      {entry?.allMessages !== true && (
        <StopMessagesButton to={to} isCategoryStopped={isCategoryStopped} entry={entry} />
      )}
      {entry && <SuppressedNote entry={entry} />}
    </>
  )
}

function StopMessagesButton({ entry, ...message }: StopMessagesProps & { entry: Suppression | null | undefined }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <ChangeButton size="xs" variant="default" icon={IconUserOff} onClick={open}>
        {entry ? <Trans>Stop all messages</Trans> : <Trans>Stop messages</Trans>}
      </ChangeButton>
      {opened && <StopMessagesModal {...message} isListed={entry !== null && entry !== undefined} onClose={close} />}
    </>
  )
}

interface StopMessagesModalProps extends StopMessagesProps {
  /** Whether the recipient is already on the list for the stopped categories. */
  isListed: boolean
  onClose: () => void
}

function StopMessagesModal({ to, isCategoryStopped, isListed, onClose }: StopMessagesModalProps) {
  const { accountId } = useAccount()
  // The usual choice would not stop messages such as this one, so it has to be made.
  const [allMessages, setAllMessages] = useState(isListed ? true : isCategoryStopped ? false : undefined)
  const add = useChange({
    change: (allMessages: boolean) => api.suppression.add.mutate({ accountId, ...toRecipientField(to), allMessages }),
    invalidates: [suppressionsKey(accountId)],
    done: t`${showRecipient(to)} is on the suppression list now.`,
    onDone: onClose,
  })
  return (
    <ConfirmModal
      opened
      onClose={onClose}
      title={t`Stop messages to ${showRecipient(to)}?`}
      consequence={
        <Stack gap="md">
          <Trans>Waybill adds the recipient to the suppression list and rejects these messages from now on.</Trans>
          {!isListed && <ScopeChoice allMessages={allMessages} onChange={setAllMessages} />}
          {isListed && <Trans>All messages are stopped: also order notices and one-time codes.</Trans>}
          <Trans>To send again, remove the recipient on the Suppressions page.</Trans>
        </Stack>
      }
      confirmLabel={t`Stop messages`}
      change={{ isPending: add.isPending, mutate: () => allMessages !== undefined && add.mutate(allMessages) }}
      disabled={allMessages === undefined}
    />
  )
}

function SuppressedNote({ entry: { allMessages, since } }: { entry: Suppression }) {
  const { accountId } = useAccount()
  const categories = useStoppedCategories().data?.categories
  return (
    <Text size="sm" w="100%">
      {allMessages ? (
        <Trans>
          Gets no messages: on the suppression list since <LogTime at={since} />.
        </Trans>
      ) : (
        <Trans>
          On the suppression list since <LogTime at={since} />. Stopped: {nameCategories(categories ?? ['MARKETING'])}.
        </Trans>
      )}{' '}
      <Anchor component={Link} to={`/${accountId}/suppressions`} size="sm">{t`Suppressions`}</Anchor>
    </Text>
  )
}
