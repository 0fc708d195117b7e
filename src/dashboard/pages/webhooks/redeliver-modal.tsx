import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Checkbox, Group, Progress, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { dayMilliseconds } from '../../../../contracts/time.ts'
import { api } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { capitalize, say } from '../../language/facts.ts'
import { formatList, formatNumber } from '../../language/format.ts'
import { useAccount } from '../../session/session.ts'
import { Modal } from '../../ui/dialog.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeExactly, fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { useFailures } from './activity-section.tsx'
import { webhooksKey } from './use-endpoints.ts'
import { isFailing } from './endpoint.tsx'
import { describeFailure, describeSince } from './statistics.ts'
import { TestBeforehand } from './test-event.tsx'

/** The selection value for all errors. */
const everything = ''

export interface RedeliveryStart {
  /** By default, the time of the first missed event, or a day ago. */
  since?: string | undefined
  error?: string | undefined
}

interface RedeliverModalProps {
  endpoint: Endpoint
  /** The initial selection; undefined while the dialog is closed. */
  start: RedeliveryStart | undefined
  onClose: () => void
}

/** Redelivers all events that were missed since a given time, or only those that failed with one error. */
export function RedeliverModal({ start, onClose, ...form }: RedeliverModalProps) {
  return (
    <Modal
      opened={start !== undefined}
      onClose={onClose}
      title={t`Redeliver events`}
      size="lg"
      closeOnClickOutside={false}
    >
      {start && <RedeliverForm start={start} onClose={onClose} {...form} />}
    </Modal>
  )
}

type RedeliverFormProps = RedeliverModalProps & { start: RedeliveryStart }

function RedeliverForm({ endpoint, start, onClose }: RedeliverFormProps) {
  const { endpointId, failingSince, missedSince, state } = endpoint
  const failures = useFailures(endpointId)
  const isListed = start.error === undefined || failures.some((failure) => failure.error === start.error)
  const [since, setSince] = useState(() =>
    toLocalInput(start.since ?? missedSince ?? failingSince ?? new Date(Date.now() - dayMilliseconds).toISOString()),
  )
  const [error, setError] = useState(start.error ?? everything)
  const [includeWaiting, setIncludeWaiting] = useState(true)
  const { redelivery, begin, stop } = useRedelivery(endpointId)
  const at = fromLocalInput(since)
  const choice = at === undefined ? undefined : { since: at, includeWaiting, ...(error !== everything && { error }) }
  const count = useCount(endpointId, choice)
  const refused = count.error ? readFailure(count.error).fields['since'] : undefined
  const isRunning = redelivery?.kind === 'running'
  // An earlier start time includes them; otherwise, they are retried automatically.
  const earlier =
    includeWaiting && error === everything && count.data?.isPartial === false
      ? endpoint.waiting - count.data.waiting
      : 0
  const total = count.data && count.data.missed + count.data.waiting
  return (
    <Stack>
      {isFailing(endpoint) && <StillFailing endpoint={endpoint} />}
      <Group align="flex-start" gap="sm" grow preventGrowOverflow={false}>
        <TextInput
          type="datetime-local"
          label={t`Events created since`}
          description={describeStart(start, endpoint)}
          value={since}
          max={toLocalInput(new Date().toISOString())}
          disabled={isRunning}
          error={at === undefined ? t`Enter a date and time.` : refused}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <Select
          label={t`Deliveries`}
          description={t`All that did not arrive, or those with one failure.`}
          data={[
            { value: everything, label: t`Everything that was missed` },
            ...[...failures, ...(isListed ? [] : [{ error: start.error ?? '' }])].map((failure) => ({
              value: failure.error,
              label: t`Failed: ${capitalize(say(failure, 'error').replace(/\.$/, ''))}`,
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
        label={t`Also send now what waits for its next attempt`}
        checked={includeWaiting}
        disabled={isRunning}
        onChange={(event) => setIncludeWaiting(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed">
        {error === everything
          ? t`Deliveries that failed for good, and events from before the endpoint was added or subscribed to them.`
          : t`Deliveries whose last attempt failed like this.`}{' '}
        {includeWaiting
          ? t`Deliveries that wait for their next attempt are sent now.`
          : t`Deliveries that wait for their next attempt keep waiting.`}{' '}
        <Trans>Events that were delivered are not sent again.</Trans>
      </Text>
      {count.error && refused === undefined && <ErrorAlert error={count.error} onRetry={() => count.refetch()} />}
      {count.data && !redelivery && (
        <Alert color="gray" p="sm" role="status" aria-label={t`Count`}>
          <Text size="sm">
            {describeTotal(count.data)}
            {earlier > 0 &&
              ` ${plural(earlier, { one: '# more waits since an earlier time.', other: '# more wait since an earlier time.' })}`}
            {state === 'disabled' && ` ${t`The endpoint is disabled: they are sent once it is enabled.`}`}
          </Text>
        </Alert>
      )}
      {redelivery && <Outcome redelivery={redelivery} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={isRunning ? stop : onClose}>
          {isRunning ? t`Stop` : redelivery ? t`Close` : t`Cancel`}
        </Button>
        {redelivery?.kind !== 'done' && (
          <Button
            loading={isRunning || count.isFetching}
            disabled={choice === undefined || total === undefined || total === 0}
            onClick={() => choice && void begin(choice)}
          >
            {redelivery ? t`Start again` : labelOf(total, count.data?.isPartial)}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

/** Explains the proposed time, which is not that of the first failed attempt. */
function describeStart({ since }: RedeliveryStart, { missedSince, failingSince }: Endpoint): string {
  if (since !== undefined) return t`Proposed: the start of the period under Activity.`
  if (missedSince !== undefined) return t`Proposed: the oldest undelivered event.`
  return failingSince === undefined ? t`Proposed: the last 24 hours.` : t`Proposed: the first failed attempt.`
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

/** Warns that redelivered events only wait again while the receiver fails. */
function StillFailing({ endpoint }: { endpoint: Endpoint }) {
  const { failure, failingSince = '' } = endpoint
  return (
    <Alert color="yellow" p="sm" icon={<IconAlertTriangle />} title={t`This endpoint still fails`}>
      <Text size="sm">
        {failure ? describeFailure(failure) : t`Deliveries have failed since ${describeSince(failingSince)}.`}{' '}
        <Trans>Redeliver once the receiver works: until then, each delivery fails and is retried later.</Trans>
      </Text>
      <TestBeforehand endpoint={endpoint} />
    </Alert>
  )
}

interface Count {
  missed: number
  waiting: number
  isPartial: boolean
}

function describeTotal({ missed, waiting, isPartial }: Count): string {
  const parts = [
    ...(missed > 0 ? [plural(missed, { one: '# delivery missed', other: '# deliveries missed' })] : []),
    ...(waiting > 0 ? [plural(waiting, { one: '# delivery waiting', other: '# deliveries waiting' })] : []),
  ]
  if (parts.length === 0)
    return isPartial
      ? t`Nothing to redeliver among the first 5,000 events; later ones may have some.`
      : t`Nothing to redeliver.`
  const found = formatList(parts)
  return isPartial ? t`${found} among the first 5,000 events. Later events are redelivered too.` : `${found}.`
}

function labelOf(total: number | undefined, isPartial = false): string {
  if (total === undefined || total === 0) return t`Redeliver`
  return isPartial ? t`Redeliver ${formatNumber(total)} or more` : t`Redeliver ${formatNumber(total)}`
}

function Outcome({ redelivery }: { redelivery: Redelivery }) {
  return (
    <Stack gap="xs">
      <Progress
        value={progressOf(redelivery)}
        animated={redelivery.kind === 'running'}
        aria-label={t`Redelivery progress`}
      />
      <Text size="sm" role="status">
        {describe(redelivery)}
      </Text>
      {redelivery.kind === 'failed' && <ErrorAlert error={redelivery.error} />}
    </Stack>
  )
}

function describe({ kind, recovered, reachedAt, since }: Redelivery): string {
  const queued = plural(recovered, { one: '# delivery queued', other: '# deliveries queued' })
  const upTo = t`events up to ${describeExactly(reachedAt)} checked`
  switch (kind) {
    case 'running':
      return t`${queued}, ${upTo}. Keep this page open until redelivery finishes.`
    case 'done':
      return recovered === 0
        ? t`Nothing to redeliver since ${describeExactly(since)}.`
        : t`${queued}. The list of deliveries shows which of them arrive.`
    case 'stopped':
      return t`Stopped: ${queued}, ${upTo}. Queued deliveries are still sent. You can start again at any time: nothing is queued twice.`
    case 'failed':
      return t`Interrupted: ${queued}, ${upTo}. You can start again: nothing is queued twice.`
  }
}

/** Redelivery progress in percent. */
function progressOf({ kind, since, until, reachedAt }: Redelivery): number {
  if (kind === 'done') return 100
  const whole = Date.parse(until) - Date.parse(since)
  const share = (Date.parse(reachedAt) - Date.parse(since)) / whole
  return Number.isFinite(share) ? Math.min(100, Math.max(0, share * 100)) : 0
}

interface RedeliveryChoice {
  since: string
  /** Only deliveries that failed with this error. */
  error?: string
  includeWaiting: boolean
}

interface Redelivery {
  kind: 'running' | 'stopped' | 'done' | 'failed'
  since: string
  /** The start of the redelivery, up to which events are checked. */
  until: string
  reachedAt: string
  recovered: number
  error?: unknown
}

/** Redelivers part by part while the dialog is open. Queued deliveries stay queued if it is interrupted. */
function useRedelivery(endpointId: string) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [redelivery, setRedelivery] = useState<Redelivery>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const begin = async (choice: RedeliveryChoice) => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    const { since } = choice
    const until = new Date().toISOString()
    let state: Redelivery = { kind: 'running', since, until, reachedAt: since, recovered: 0 }
    const show = (changes: Partial<Redelivery>) => {
      state = { ...state, ...changes }
      setRedelivery(state)
    }
    show({})
    try {
      let next: string | undefined
      do {
        // The server finishes the current part even after a stop, so it is counted.
        const part = await api.webhook.recover.mutate({ accountId, endpointId, ...choice, ...(next && { next }) })
        next = part.next
        show({ recovered: state.recovered + part.recovered, reachedAt: part.reachedAt })
      } while (next !== undefined && !signal.aborted)
      show({ kind: next === undefined ? 'done' : 'stopped' })
    } catch (error) {
      show({ kind: 'failed', error })
    }
    await queryClient.invalidateQueries({ queryKey: webhooksKey(accountId) })
  }
  return { redelivery, begin, stop: () => running.current?.abort() }
}
