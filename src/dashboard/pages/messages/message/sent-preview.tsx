import { Skeleton, Stack, Text } from '@mantine/core'
import { MessagePreview } from '../../templates/message-preview.tsx'
import type { MessageHistory } from './use-message.ts'
import { useTemplateOf } from './use-template.ts'

/** What the recipient sees, as far as Waybill knows. */
export function SentPreview({ history: { message } }: { history: MessageHistory }) {
  const found = useTemplateOf(message)
  switch (found.kind) {
    case 'loading':
      return <Skeleton height={140} radius="lg" />
    case 'missing':
      return (
        <Text size="sm" c="dimmed">
          The template {message.template} ({message.language}) is no longer available, so there is no preview.
        </Text>
      )
    case 'found': {
      const { template } = found
      const hasVariables = template.placeholders.length > 0
      return (
        <Stack gap={6}>
          <MessagePreview
            template={template}
            variables={{}}
            headerText=""
            sent={{ at: message.createdAt, status: message.status }}
          />
          {hasVariables && (
            <Text size="xs" c="dimmed">
              The variables of messages are not stored.
            </Text>
          )}
        </Stack>
      )
    }
  }
}
