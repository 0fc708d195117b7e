import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { endpointLimits } from '../../../../contracts/dashboard/webhook.ts'
import { formatNumber } from '../../language/format.ts'
import { WholeNumberField } from '../../ui/fields.tsx'
import { checkWholeNumber, type NumberRange, readWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'

interface EndpointLimitsProps {
  form: Pick<UseFormReturnType<LimitValues>, 'getInputProps'>
}

export function EndpointLimits({ form }: EndpointLimitsProps) {
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

function LimitField({ label, name, form }: EndpointLimitsProps & { label: string; name: keyof LimitValues }) {
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
export interface LimitValues {
  maxPerSecond: TypedNumber
  maxConcurrent: TypedNumber
}

const limitRanges = {
  maxPerSecond: { min: 1, max: endpointLimits.maxPerSecond },
  maxConcurrent: { min: 1, max: endpointLimits.maxConcurrent },
} satisfies Record<keyof LimitValues, NumberRange>

/** Form validation of the limits. */
export const limitChecks = {
  maxPerSecond: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxPerSecond)),
  maxConcurrent: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxConcurrent)),
}

/** Reads the limits from validated fields; undefined means no limit. */
export function readLimits({ maxPerSecond, maxConcurrent }: LimitValues) {
  return {
    maxPerSecond: readWholeNumber(maxPerSecond, limitRanges.maxPerSecond),
    maxConcurrent: readWholeNumber(maxConcurrent, limitRanges.maxConcurrent),
  }
}
