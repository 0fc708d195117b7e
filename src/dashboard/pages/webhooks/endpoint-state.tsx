import { Alert, Text } from '@mantine/core'
import { IconAlertTriangle, IconPlayerPause } from '@tabler/icons-react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { toSentence } from './attempt-list.tsx'

export function EndpointBadge({ endpoint: { state, failingSince } }: { endpoint: Endpoint }) {
  if (state === 'disabled') return <StatusBadge tone="neutral">Disabled</StatusBadge>
  if (failingSince !== undefined) return <StatusBadge tone="bad">Failing</StatusBadge>
  return <StatusBadge tone="good">Enabled</StatusBadge>
}

/** Why nothing arrives; nothing where all is well. */
export function EndpointTrouble({ endpoint: { state, reason, failingSince, waiting } }: { endpoint: Endpoint }) {
  if (state === 'disabled')
    return (
      <Alert color="gray" icon={<IconPlayerPause />} title="This endpoint is disabled" mb="lg">
        <Text size="sm">
          {reason !== undefined && `${toSentence(reason)} `}
          New events wait for it, and go as soon as it is enabled.
        </Text>
      </Alert>
    )
  if (failingSince === undefined) return null
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="Deliveries fail" mb="lg">
      <Text size="sm">
        No attempt succeeds any more. The first failure was <DateTime at={failingSince} />.{' '}
        {waiting > 0 && `${countWaiting(waiting)} ${waiting === 1 ? 'waits' : 'wait'} to be tried again. `}
        The deliveries below show what your application answered. After five days without a success the endpoint is
        disabled.
      </Text>
    </Alert>
  )
}

export function countWaiting(count: number): string {
  return count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`
}
