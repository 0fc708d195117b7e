import { Checkbox, Code, Stack } from '@mantine/core'
import { type MessageEventType, messageEventTypes, webhooks } from '../../../../contracts/events.ts'

interface EventChoiceProps {
  value: MessageEventType[]
  onChange: (events: MessageEventType[]) => void
  error?: string | undefined
}

/** The events that an endpoint can ask for, with what each one means. */
export function EventChoice({ value, onChange, error }: EventChoiceProps) {
  return (
    <Checkbox.Group
      label="Events"
      description="What this endpoint is told of."
      value={value}
      error={error}
      onChange={(chosen) => onChange(messageEventTypes.filter((type) => chosen.includes(type)))}
    >
      <Stack gap="xs" my="xs">
        {messageEventTypes.map((type) => (
          <Checkbox key={type} value={type} label={type} description={withCode(webhooks[type].description)} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** The contracts are written for the documentation, which is Markdown: `code` is all that we need of it. */
function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <Code key={part}>{part}</Code>))
}
