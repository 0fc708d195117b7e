import { Alert, Button, Checkbox, Group, Modal, Progress, Select, Stack, Text, TextInput } from '@mantine/core'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeExactly, fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { useErrors } from './activity-section.tsx'
import { toSentence } from './delivery-list.tsx'
import { countWaiting } from './endpoint.tsx'
import { describeCount } from './statistics.ts'
import { type Redelivery, type RedeliveryChoice, useRedelivery } from './use-redelivery.ts'
import { webhooksKey } from './use-endpoints.ts'

const dayMilliseconds = 86_400_000
/** The value of the selection that is no error. */
const everything = ''

export interface RedeliveryStart {
  /** By default, since the endpoint fails, or for a day. */
  since?: string | undefined
  error?: string | undefined
}

interface RedeliverModalProps {
  endpoint: Endpoint
  /** What is chosen at first; undefined while the dialog is closed. */
  start: RedeliveryStart | undefined
  onClose: () => void
}

/** The one place where deliveries are sent again: everything that was missed since a time, or what failed in one way. */
export function RedeliverModal({ start, onClose, ...form }: RedeliverModalProps) {
  return (
    <Modal
      opened={start !== undefined}
      onClose={onClose}
      title="Redeliver events"
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {start && <RedeliverForm start={start} onClose={onClose} {...form} />}
    </Modal>
  )
}

type RedeliverFormProps = RedeliverModalProps & { start: RedeliveryStart }

function RedeliverForm({ endpoint, start, onClose }: RedeliverFormProps) {
  const { endpointId, failingSince, state } = endpoint
  const errors = useErrors(endpointId)
  const [since, setSince] = useState(() =>
    toLocalInput(start.since ?? failingSince ?? new Date(Date.now() - dayMilliseconds).toISOString()),
  )
  const [error, setError] = useState(start.error ?? everything)
  const [includeWaiting, setIncludeWaiting] = useState(true)
  const { redelivery, begin, stop } = useRedelivery(endpointId)
  const at = fromLocalInput(since)
  const choice = at === undefined ? undefined : { since: at, includeWaiting, ...(error !== everything && { error }) }
  const count = useCount(endpointId, choice)
  const refused = count.error ? readFailure(count.error).fields['since'] : undefined
  const isRunning = redelivery?.kind === 'running'
  const total = count.data && count.data.missed + count.data.waiting
  return (
    <Stack>
      <Group align="flex-start" gap="sm" grow preventGrowOverflow={false}>
        <TextInput
          type="datetime-local"
          label="Events since"
          value={since}
          max={toLocalInput(new Date().toISOString())}
          disabled={isRunning}
          error={at === undefined ? 'Enter a date and time.' : refused}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <Select
          label="Deliveries"
          data={[
            { value: everything, label: 'Everything that was missed' },
            ...[...new Set([...errors, ...(start.error === undefined ? [] : [start.error])])].map((value) => ({
              value,
              label: `Failed: ${toSentence(value).replace(/\.$/, '')}`,
            })),
          ]}
          value={error}
          disabled={isRunning}
          allowDeselect={false}
          comboboxProps={{ withinPortal: true }}
          onChange={(value) => setError(value ?? everything)}
        />
      </Group>
      <Checkbox
        label="Also send now what waits for its next attempt"
        checked={includeWaiting}
        disabled={isRunning}
        onChange={(event) => setIncludeWaiting(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed">
        {error === everything
          ? 'Deliveries that failed, and events from before the endpoint was added or subscribed to them. Events that were delivered are not sent again.'
          : 'Deliveries whose last attempt failed like this. Events that were delivered are not sent again.'}
      </Text>
      {count.error && refused === undefined && <ErrorAlert error={count.error} onRetry={() => count.refetch()} />}
      {count.data && !redelivery && (
        <Alert color="gray" p="sm" role="status" aria-label="Count">
          <Text size="sm">
            {describeTotal(count.data)}
            {state === 'disabled' && ' The endpoint is disabled: they are sent once it is enabled.'}
          </Text>
        </Alert>
      )}
      {redelivery && <Outcome redelivery={redelivery} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={isRunning ? stop : onClose}>
          {isRunning ? 'Stop' : redelivery ? 'Close' : 'Cancel'}
        </Button>
        {redelivery?.kind !== 'done' && (
          <Button
            loading={isRunning || count.isFetching}
            disabled={choice === undefined || total === undefined || total === 0}
            onClick={() => choice && void begin(choice)}
          >
            {redelivery ? 'Start again' : labelOf(total, count.data?.isPartial)}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function useCount(endpointId: string, choice: RedeliveryChoice | undefined) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'recoverable', endpointId, choice],
    queryFn:
      choice === undefined
        ? skipToken
        : ({ signal }) => api.webhook.countRecoverable.query({ accountId, endpointId, ...choice }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
}

interface Count {
  missed: number
  waiting: number
  isPartial: boolean
}

function describeTotal({ missed, waiting, isPartial }: Count): string {
  const parts = [
    ...(missed > 0 ? [`${countWaiting(missed)} missed`] : []),
    ...(waiting > 0 ? [`${countWaiting(waiting)} waiting`] : []),
  ]
  if (parts.length === 0)
    return isPartial
      ? 'Nothing to redeliver among the first 5,000 events; later ones may have some.'
      : 'Nothing to redeliver.'
  return `${parts.join(' and ')}${isPartial ? ' among the first 5,000 events. Later events are redelivered too' : ''}.`
}

function labelOf(total: number | undefined, isPartial = false): string {
  if (total === undefined || total === 0) return 'Redeliver'
  return `Redeliver ${describeCount(total)}${isPartial ? ' or more' : ''}`
}

function Outcome({ redelivery }: { redelivery: Redelivery }) {
  return (
    <Stack gap="xs">
      <Progress
        value={progressOf(redelivery)}
        animated={redelivery.kind === 'running'}
        aria-label="Redelivery progress"
      />
      <Text size="sm" role="status">
        {describe(redelivery)}
      </Text>
      {redelivery.kind === 'failed' && <ErrorAlert error={redelivery.error} />}
    </Stack>
  )
}

function describe({ kind, recovered, reachedAt, since }: Redelivery): string {
  const queued = `${countWaiting(recovered)} queued`
  const upTo = `events up to ${describeExactly(reachedAt)} checked`
  switch (kind) {
    case 'running':
      return `${queued}, ${upTo}. Keep this page open until redelivery finishes.`
    case 'done':
      return recovered === 0 ? `Nothing to redeliver since ${describeExactly(since)}.` : `Done: ${queued}.`
    case 'stopped':
      return `Stopped: ${queued}, ${upTo}. Queued deliveries are still sent. You can start again at any time: nothing is queued twice.`
    case 'failed':
      return `Interrupted: ${queued}, ${upTo}. You can start again: nothing is queued twice.`
  }
}

/** Redelivery progress in percent. */
function progressOf({ kind, since, until, reachedAt }: Redelivery): number {
  if (kind === 'done') return 100
  const whole = Date.parse(until) - Date.parse(since)
  const share = (Date.parse(reachedAt) - Date.parse(since)) / whole
  return Number.isFinite(share) ? Math.min(100, Math.max(0, share * 100)) : 0
}
