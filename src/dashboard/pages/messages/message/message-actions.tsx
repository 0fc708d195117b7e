import { Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { CopyButton } from '../../../ui/copy.tsx'
import { ChangeButton } from '../../../ui/change-button.tsx'
import { SendAgainModal } from './send-again.tsx'
import { toCurl } from './to-curl.ts'
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
  return (
    <Group gap="xs">
      <ChangeButton size="xs" variant="default" leftSection={<IconSend size={14} />} onClick={open}>
        Send again
      </ChangeButton>
      <CopyButton text={() => toCurl(message, template, window.location.origin)} label="Copy as curl" />
      {opened && <SendAgainModal message={message} found={found} onClose={close} onSent={onSentAgain} />}
    </Group>
  )
}
