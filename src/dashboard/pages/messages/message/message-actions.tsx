import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend, IconUserOff } from '@tabler/icons-react'
import { useState } from 'react'
import { erasedRecipient } from '../../../../../contracts/fields.ts'
import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { ChangeButton, TextLink } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { suppressionsKey, useStoppedCategories, useSuppression } from '../../suppressions/use-suppressions.ts'
import { SendAgainModal } from './send-again.tsx'
import { toCurl } from './to-curl.ts'
import { type MessageHistory, useStoredContent, useTemplateOf } from './use-message.ts'
import type { Suppression } from '../../../../../contracts/api/suppression.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'
import { useAccount } from '../../../session/session.ts'
import { ConfirmModal } from '../../../ui/dialog.tsx'
import { LogTime } from '../../../ui/date-time.tsx'
import { showRecipient, toRecipientField } from '../../../ui/phone-number.ts'
import { nameCategories, ScopeChoice } from '../../suppressions/scope-choice.tsx'

interface MessageActionsProps {
  history: MessageHistory
  onSentAgain: (messageId: string) => void
}

export function MessageActions({ history: { message }, onSentAgain }: MessageActionsProps) {
  const [opened, { open, close }] = useDisclosure()
  const found = useTemplateOf(message)
  const template = found.kind === 'found' ? found.template : undefined
  const content = useStoredContent(message)
  const { isCategoryStopped, isRecipientStopped } = useStopped(message, template)
  return (
    <Group gap="xs">
      <ChangeButton
        size="xs"
        variant="default"
        icon={IconSend}
        obstacle={isRecipientStopped ? t`The suppression list stops this message.` : undefined}
        onClick={open}
      >
        <Trans>Send again</Trans>
      </ChangeButton>
      {message.to !== erasedRecipient && (
        <>
          <CopyButton
            text={() => toCurl(message, { template, values: content?.content.values }, window.location.origin)}
            label={t`Copy as curl`}
          />
          <StopMessages to={message.to} isCategoryStopped={isCategoryStopped} />
        </>
      )}
      {opened && <SendAgainModal message={message} found={found} onClose={close} onSent={onSentAgain} />}
    </Group>
  )
}

/** Whether the suppression list stops messages such as this one, and this one. */
function useStopped({ to }: Message, template: OwnTemplate | undefined) {
  const entry = useSuppression(to)
  const stopped: string[] = useStoppedCategories().data?.categories ?? []
  const isCategoryStopped = template?.category !== undefined && stopped.includes(template.category)
  return { isCategoryStopped, isRecipientStopped: entry?.allMessages === true || (Boolean(entry) && isCategoryStopped) }
}

interface StopMessagesProps {
  to: string
  /** Whether the account stops messages such as this one for everyone on the list. */
  isCategoryStopped: boolean
}

/** Adds the recipient of a message to the suppression list, or shows that they are already on it. */
function StopMessages({ to, isCategoryStopped }: StopMessagesProps) {
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
      <TextLink to={`/${accountId}/suppressions`} size="sm">{t`Suppressions`}</TextLink>
    </Text>
  )
}
