import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { erasedRecipient } from '../../../../../contracts/fields.ts'
import { CopyButton } from '../../../ui/copy.tsx'
import { ChangeButton } from '../../../ui/change-button.tsx'
import { SendAgainModal } from './send-again.tsx'
import { StopMessages } from './stop-messages.tsx'
import { toCurl } from './to-curl.ts'
import { useStoredContent } from './use-content.ts'
import type { MessageHistory } from './use-message.ts'
import { useTemplateOf } from './use-template.ts'

interface MessageActionsProps {
  history: MessageHistory
  onSentAgain: (messageId: string) => void
}

export function MessageActions({ history: { message }, onSentAgain }: MessageActionsProps) {
  const [opened, { open, close }] = useDisclosure()
  const found = useTemplateOf(message)
  const template = found.kind === 'found' ? found.template : undefined
  const content = useStoredContent(message)
  return (
    <Group gap="xs">
      <ChangeButton size="xs" variant="default" leftSection={<IconSend size={14} />} onClick={open}>
        <Trans>Send again</Trans>
      </ChangeButton>
      {message.to !== erasedRecipient && (
        <>
          <CopyButton
            text={() => toCurl(message, { template, values: content?.content.values }, window.location.origin)}
            label={t`Copy as curl`}
          />
          <StopMessages to={message.to} />
        </>
      )}
      {opened && <SendAgainModal message={message} found={found} onClose={close} onSent={onSentAgain} />}
    </Group>
  )
}
