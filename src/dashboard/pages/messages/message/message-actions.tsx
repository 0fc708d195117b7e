import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { erasedRecipient } from '../../../../../contracts/fields.ts'
import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { ChangeButton } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { useStoppedCategories, useSuppression } from '../../suppressions/use-suppressions.ts'
import { SendAgainModal } from './send-again.tsx'
import { StopMessages } from './stop-messages.tsx'
import { toCurl } from './to-curl.ts'
import { type MessageHistory, useStoredContent, useTemplateOf } from './use-message.ts'

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
