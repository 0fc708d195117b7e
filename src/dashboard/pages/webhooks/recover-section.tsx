import { Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { readFailure } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeExactly, fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { countWaiting } from './endpoint.tsx'
import { webhooksKey } from './use-endpoints.ts'

const dayMilliseconds = 86_400_000
/** The height of the label above the field. On a narrow phone, the button is below the field. */
const besideField = { base: 0, xs: 25 }

export function RecoverSection({ endpoint: { endpointId, failingSince } }: { endpoint: Endpoint }) {
  const [since, setSince] = useState(() =>
    toLocalInput(failingSince ?? new Date(Date.now() - dayMilliseconds).toISOString()),
  )
  const [problem, setProblem] = useState<string>()
  const { recovery, start, stop } = useRecovery(endpointId)
  const isRunning = recovery?.kind === 'running'
  const refused = recovery?.kind === 'failed' ? readFailure(recovery.error).fields['since'] : undefined
  const begin = () => {
    const at = fromLocalInput(since)
    setProblem(at === undefined ? 'Enter a date and time.' : undefined)
    if (at !== undefined) void start(at)
  }
  return (
    <Section
      title="Recover"
      description="Redelivers events that this endpoint missed since a given time: deliveries that failed and events from before it was added. Events that were delivered are not sent again."
    >
      <Stack gap="md">
        <Group align="flex-start" gap="sm">
          <TextInput
            type="datetime-local"
            label="Recover since"
            value={since}
            max={toLocalInput(new Date().toISOString())}
            disabled={isRunning}
            error={problem ?? refused}
            onChange={(event) => setSince(event.currentTarget.value)}
          />
          {isRunning ? (
            <Button mt={besideField} variant="default" onClick={stop}>
              Stop
            </Button>
          ) : (
            <ChangeButton mt={besideField} variant="default" onClick={begin}>
              Recover
            </ChangeButton>
          )}
        </Group>
        {recovery && refused === undefined && <Outcome recovery={recovery} onRetry={begin} />}
      </Stack>
    </Section>
  )
}

function Outcome({ recovery, onRetry }: { recovery: Recovery; onRetry: () => void }) {
  const { kind, error } = recovery
  return (
    <Stack gap="xs">
      <Progress value={progressOf(recovery)} animated={kind === 'running'} aria-label="Recovery progress" />
      <Text size="sm" role="status">
        {describe(recovery)}
      </Text>
      {kind === 'failed' && <ErrorAlert error={error} onRetry={onRetry} />}
    </Stack>
  )
}

function describe({ kind, recovered, reachedAt, since }: Recovery): string {
  const queued = `${countWaiting(recovered)} queued`
  const upTo = `events up to ${describeExactly(reachedAt)} checked`
  switch (kind) {
    case 'running':
      return `${queued}, ${upTo}. Keep this page open until recovery finishes.`
    case 'done':
      return recovered === 0 ? `No events to recover since ${describeExactly(since)}.` : `Done: ${queued}.`
    case 'stopped':
      return `Stopped: ${queued}, ${upTo}. Queued deliveries are still sent. You can start again at any time: nothing is queued twice.`
    case 'failed':
      return `Interrupted: ${queued}, ${upTo}. You can start again: nothing is queued twice.`
  }
}

interface Recovery {
  kind: 'running' | 'stopped' | 'done' | 'failed'
  since: string
  /** The start of the recovery, up to which events are checked. */
  until: string
  reachedAt: string
  recovered: number
  error?: unknown
}

/**
 * Recovers one part after the other while the page is open. Queued deliveries stay queued, even if it is
 * interrupted.
 */
function useRecovery(endpointId: string) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [recovery, setRecovery] = useState<Recovery>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const start = async (since: string) => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    const until = new Date().toISOString()
    let state: Recovery = { kind: 'running', since, until, reachedAt: since, recovered: 0 }
    const show = (changes: Partial<Recovery>) => {
      state = { ...state, ...changes }
      setRecovery(state)
    }
    show({})
    try {
      let next: string | undefined
      do {
        // The server finishes the current part even after a stop, so it is counted.
        const part = await settings.webhook.recover.mutate({ accountId, endpointId, since, ...(next && { next }) })
        next = part.next
        show({ recovered: state.recovered + part.recovered, reachedAt: part.reachedAt })
      } while (next !== undefined && !signal.aborted)
      show({ kind: next === undefined ? 'done' : 'stopped' })
    } catch (error) {
      show({ kind: 'failed', error })
    }
    await queryClient.invalidateQueries({ queryKey: webhooksKey(accountId) })
  }
  return { recovery, start, stop: () => running.current?.abort() }
}

/** Recovery progress in percent. */
function progressOf({ kind, since, until, reachedAt }: Recovery): number {
  if (kind === 'done') return 100
  const whole = Date.parse(until) - Date.parse(since)
  const share = (Date.parse(reachedAt) - Date.parse(since)) / whole
  return Number.isFinite(share) ? Math.min(100, Math.max(0, share * 100)) : 0
}
