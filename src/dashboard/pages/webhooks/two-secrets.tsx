import { Alert, Text } from '@mantine/core'
import { describeExactly } from '../../ui/describe-time.ts'

/** While a secret is being rotated. */
export function TwoSecrets({ until }: { until: string }) {
  return (
    <Alert color="gray" p="sm">
      <Text size="sm">
        Until <time dateTime={until}>{describeExactly(until)}</time> the secret before this one signs too.
      </Text>
    </Alert>
  )
}
