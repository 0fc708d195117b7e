import { plural, t } from '@lingui/core/macro'
import { Button, Group, Text } from '@mantine/core'
import type { RequestSummary } from '../../../../contracts/dashboard/request.ts'
import { formatNumber } from '../../language/format.ts'

interface SummaryProps {
  summary: RequestSummary
  /** The number of requests in the table, which can be newer than the count. */
  shown: number
  /** The code of the filter. */
  errorCode: string
  onFilter: (errorCode: string) => void
}

/** How many requests match, and their error codes, each of which filters. */
export function Summary({ summary: { count, isComplete, errorCodes }, shown, errorCode, onFilter }: SummaryProps) {
  const requests = plural(Math.max(count, shown), { one: '# request', other: '# requests' })
  return (
    <Group gap="xs" mb="xs" mih={30}>
      <Text size="sm" c="dimmed" role="status">
        {isComplete ? requests : t`At least ${requests}`}
      </Text>
      {errorCodes.map(({ errorCode: code, count: failed }) => (
        <Button
          key={code}
          size="compact-xs"
          variant={code === errorCode ? 'filled' : 'default'}
          aria-pressed={code === errorCode}
          onClick={() => onFilter(code === errorCode ? '' : code)}
        >
          {code} {formatNumber(failed)}
        </Button>
      ))}
    </Group>
  )
}
