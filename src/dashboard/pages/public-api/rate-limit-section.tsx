import { Progress, Text } from '@mantine/core'
import { Section } from '../../ui/section.tsx'
import type { ApiAccess } from './use-api-access.ts'

const number = new Intl.NumberFormat('en')

export function RateLimitSection({ rateLimit: { limit, used } }: Pick<ApiAccess, 'rateLimit'>) {
  const share = limit === 0 ? 100 : (used / limit) * 100
  return (
    <Section
      title="Rate limit"
      description="How many messages may be sent in a minute, test messages included. Whatever comes beyond it is refused and can be sent a little later."
    >
      <Text size="sm" mb={6}>
        {number.format(used)} of {number.format(limit)} used in this minute
      </Text>
      <Progress.Root size="lg">
        <Progress.Section value={share} color={colourOf(share)} aria-label="Used in this minute" />
      </Progress.Root>
      {used >= limit && (
        <Text size="sm" c="var(--mantine-color-error)" mt="xs" role="status">
          The limit is reached: requests are refused until the minute ends.
        </Text>
      )}
    </Section>
  )
}

function colourOf(share: number): string {
  if (share >= 100) return 'red'
  return share >= 80 ? 'yellow' : 'waybill'
}
