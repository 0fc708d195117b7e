import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Checkbox, Code, SimpleGrid, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { endpointLimits } from '../../../../contracts/dashboard/webhook.ts'
import { type EventType, eventTypes } from '../../../../contracts/events.ts'
import { eventFacts } from '../../../../contracts/facts/events.ts'
import { sayFact } from '../../language/facts.ts'
import { formatNumber } from '../../language/format.ts'
import { WholeNumberField } from '../../ui/fields.tsx'
import { checkWholeNumber, type NumberRange, readWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'

/** What both forms of an endpoint ask for. */
export interface EndpointValues extends LimitValues {
  url: string
  events: EventType[]
  description: string
}

/** Form validation of these values. */
export const endpointChecks = {
  url: (url: string) =>
    URL.canParse(url.trim()) ? null : t`Enter the full URL, such as https://example.com/webhooks.`,
  events: (events: EventType[]) => (events.length > 0 ? null : t`Choose at least one event.`),
  maxPerSecond: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxPerSecond)),
  maxConcurrent: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxConcurrent)),
}

interface FieldProps {
  form: Pick<UseFormReturnType<EndpointValues>, 'getInputProps' | 'setFieldValue'>
}

/** The events that an endpoint can receive, with descriptions. */
export function EventChoice({ form }: FieldProps) {
  return (
    <Checkbox.Group
      label={t`Events to send`}
      {...form.getInputProps('events')}
      onChange={(chosen) =>
        form.setFieldValue(
          'events',
          eventTypes.filter((type) => chosen.includes(type)),
        )
      }
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

export function EndpointLimits({ form }: FieldProps) {
  return (
    <Stack gap={4}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <LimitField label={t`Deliveries per second (optional)`} name="maxPerSecond" form={form} />
        <LimitField label={t`Concurrent requests (optional)`} name="maxConcurrent" form={form} />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        <Trans>
          Limit deliveries if your application can handle only a certain load. Deliveries over the limit are queued.
        </Trans>
      </Text>
    </Stack>
  )
}

function LimitField({ label, name, form }: FieldProps & { label: string; name: keyof LimitValues }) {
  const { min, max } = limitRanges[name]
  return (
    <WholeNumberField
      label={label}
      description={t`${formatNumber(min)} to ${formatNumber(max)}. Leave empty for no limit.`}
      placeholder={t`No limit`}
      min={min}
      max={max}
      {...form.getInputProps(name)}
    />
  )
}

/** An empty field means no limit. */
interface LimitValues {
  maxPerSecond: TypedNumber
  maxConcurrent: TypedNumber
}

const limitRanges = {
  maxPerSecond: { min: 1, max: endpointLimits.maxPerSecond },
  maxConcurrent: { min: 1, max: endpointLimits.maxConcurrent },
} satisfies Record<keyof LimitValues, NumberRange>

/** Reads the limits from validated fields; undefined means no limit. */
export function readLimits({ maxPerSecond, maxConcurrent }: LimitValues) {
  return {
    maxPerSecond: readWholeNumber(maxPerSecond, limitRanges.maxPerSecond),
    maxConcurrent: readWholeNumber(maxConcurrent, limitRanges.maxConcurrent),
  }
}
