import { t } from '@lingui/core/macro'
import { Checkbox, Code, Stack } from '@mantine/core'
import { type EventType, eventTypes } from '../../../../contracts/events.ts'
import { eventFacts } from '../../../../contracts/facts/events.ts'
import { sayFact } from '../../language/facts.ts'

interface EventChoiceProps {
  value: EventType[]
  onChange: (events: EventType[]) => void
  error?: string | undefined
}

/** The events that an endpoint can receive, with descriptions. */
export function EventChoice({ value, onChange, error }: EventChoiceProps) {
  return (
    <Checkbox.Group
      label={t`Events to send`}
      value={value}
      error={error}
      onChange={(chosen) => onChange(eventTypes.filter((type) => chosen.includes(type)))}
    >
      <Stack gap="xs" my="xs">
        {eventTypes.map((type) => (
          <Checkbox key={type} value={type} label={type} description={withCode(describeEvent(type))} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** Descriptions in the contracts are Markdown; only `code` is used here. */
function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <Code key={part}>{part}</Code>))
}

/** The documented description of an event, without "Opt-in.", which a checkbox makes obvious. */
function describeEvent(type: EventType): string {
  return sayFact(eventFacts[type]())
}
