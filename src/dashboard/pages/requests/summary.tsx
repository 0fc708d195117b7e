import { plural, t } from '@lingui/core/macro'
import { Button, Group, Text } from '@mantine/core'
import type { RequestSummary } from '../../../../contracts/dashboard/request.ts'
import { formatNumber } from '../../language/format.ts'

interface SummaryProps {
  summary: RequestSummary
  /** Number of requests in the table, which can be newer than the count. */
  shown: number
  /** The error code that is filtered by. */
  errorCode: string
  onFilter: (errorCode: string) => void
}

/** The number of matching requests, and their error codes as filter buttons. */
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
