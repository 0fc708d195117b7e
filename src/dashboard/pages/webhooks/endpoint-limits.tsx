import { NumberInput, SimpleGrid, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { endpointLimits } from '../../../../contracts/dashboard/webhook.ts'

/** An empty field is no limit. */
export interface LimitValues {
  maxPerSecond: number | ''
  maxConcurrent: number | ''
}

interface EndpointLimitsProps {
  form: Pick<UseFormReturnType<LimitValues>, 'getInputProps'>
}

export function EndpointLimits({ form }: EndpointLimitsProps) {
  const shared = { min: 1, allowDecimal: false, allowNegative: false, placeholder: 'No limit' }
  return (
    <Stack gap={4}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label="Deliveries per second (optional)"
          max={endpointLimits.maxPerSecond}
          {...shared}
          {...form.getInputProps('maxPerSecond')}
        />
        <NumberInput
          label="Concurrent requests (optional)"
          max={endpointLimits.maxConcurrent}
          {...shared}
          {...form.getInputProps('maxConcurrent')}
        />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        Limit deliveries if your application can handle only a certain load. Deliveries over the limit are queued.
      </Text>
    </Stack>
  )
}
