import { type MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Accordion, Badge, Box, Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { type QueryKey, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { say, toSentence } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import type { Attempt, Delivery } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { notifySuccess, useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/button.tsx'
import type { Tone } from '../../ui/tone.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { describeLastAttempt, type DeliveryGroup, groupDeliveries } from './delivery-groups.ts'
import { describeTimeRange } from './statistics.ts'

interface DeliveryListProps<D extends Delivery> {
  deliveries: D[]
  /** Queries to invalidate after a retry. */
  invalidates: QueryKey[]
  /** The second line of each delivery. It must not contain links, because it is inside a button. */
  summary?: (delivery: D) => ReactNode
  /** Details of an open delivery, such as links. */
  about: (delivery: D) => ReactNode
  /** Whether deliveries that differ only in their event share a row. */
  isGrouped?: boolean
}

export const deliveryStateNames = {
  waiting: msg`Waiting`,
  delivered: msg({ message: 'Delivered', context: 'delivery' }),
  failed: msg({ message: 'Failed', context: 'delivery' }),
} satisfies Record<Delivery['state'], MessageDescriptor>

/** A list of deliveries that expand to show their attempts. */
export function DeliveryList<D extends Delivery>({ isGrouped = false, ...list }: DeliveryListProps<D>) {
  const [opened, setOpened] = useState<string[]>([])
  const groups = isGrouped
    ? groupDeliveries(list.deliveries, opened)
    : list.deliveries.map((delivery): DeliveryGroup<D> => ({ key: delivery.deliveryId, deliveries: [delivery] }))
  return (
    <Accordion
      multiple
      value={opened}
      onChange={setOpened}
      order={3}
      chevronPosition="left"
      keepMounted={false}
      variant="contained"
    >
      {groups.map((group) =>
        group.deliveries.length === 1 ? (
          <DeliveryItem key={group.deliveries[0].deliveryId} delivery={group.deliveries[0]} list={list} />
        ) : (
          <GroupItem key={group.key} group={group} list={list} />
        ),
      )}
    </Accordion>
  )
}

type List<D extends Delivery> = Omit<DeliveryListProps<D>, 'isGrouped'>

interface DeliveryItemProps<D extends Delivery> {
  delivery: D
  list: List<D>
  /** Whether only the differences from the rest of the group are shown. */
  isInGroup?: boolean
}

function DeliveryItem<D extends Delivery>({ delivery, list, isInGroup = false }: DeliveryItemProps<D>) {
  const { invalidates, summary, about } = list
  return (
    <Accordion.Item value={delivery.deliveryId}>
      <Accordion.Control>
        <RowHeading delivery={delivery} isInGroup={isInGroup} aside={<RowTimes delivery={delivery} />}>
          {summary && (
            <Text size="xs" component="div" mt={2}>
              {summary(delivery)}
            </Text>
          )}
        </RowHeading>
      </Accordion.Control>
      <Accordion.Panel>
        <OpenDelivery delivery={delivery} invalidates={invalidates} about={about(delivery)} />
      </Accordion.Panel>
    </Accordion.Item>
  )
}

/** A group of similar deliveries as one row that expands. */
function GroupItem<D extends Delivery>({ group, list }: { group: DeliveryGroup<D>; list: List<D> }) {
  const { deliveries, key } = group
  const [newest] = deliveries
  const oldest = deliveries.at(-1) ?? newest
  return (
    <Accordion.Item value={key}>
      <Accordion.Control>
        <RowHeading
          delivery={newest}
          count={deliveries.length}
          aside={t`created ${describeTimeRange(oldest.createdAt, newest.createdAt)}`}
        />
      </Accordion.Control>
      <Accordion.Panel>
        <Accordion multiple order={4} chevronPosition="left" keepMounted={false} variant="contained">
          {deliveries.map((delivery) => (
            <DeliveryItem key={delivery.deliveryId} delivery={delivery} list={list} isInGroup />
          ))}
        </Accordion>
      </Accordion.Panel>
    </Accordion.Item>
  )
}

interface RowHeadingProps {
  delivery: Delivery
  /** Number of deliveries in a group. */
  count?: number
  isInGroup?: boolean
  aside: ReactNode
  children?: ReactNode
}

function RowHeading({ delivery, count, isInGroup = false, aside, children }: RowHeadingProps) {
  const lastAttempt = describeLastAttempt(delivery)
  return (
    // On a phone, the times wrap below.
    <Group justify="space-between" gap="4px 16px" pr="xs">
      <Box miw={0} flex="1 1 260px">
        {isInGroup ? (
          <Text span size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {delivery.messageId ?? delivery.eventId}
          </Text>
        ) : (
          <Group gap="xs">
            <Text span size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {delivery.type ?? t`Event deleted`}
            </Text>
            <StatusBadge tone={toneOf(delivery)}>{translate(deliveryStateNames[delivery.state])}</StatusBadge>
            {count !== undefined && (
              <Badge variant="default" tt="none" fw={600} radius="sm">
                {plural(count, { one: '# delivery', other: '# deliveries' })}
              </Badge>
            )}
            {lastAttempt !== undefined && (
              <Text span size="xs" c="dimmed">
                {lastAttempt}
              </Text>
            )}
          </Group>
        )}
        {children}
      </Box>
      <Text size="xs" c="dimmed" component="span" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {aside}
      </Text>
    </Group>
  )
}

function RowTimes({ delivery }: { delivery: Delivery }) {
  const { createdAt, nextAttemptAt } = delivery
  const isLater = nextAttemptAt !== undefined && Date.parse(nextAttemptAt) > Date.now() && delivery.attempts.length > 0
  return (
    <>
      {countAttempts(delivery)} ·{' '}
      {isLater ? (
        <Trans>
          next <LogTime at={nextAttemptAt} />
        </Trans>
      ) : (
        <Trans>
          created <LogTime at={createdAt} />
        </Trans>
      )}
    </>
  )
}

interface OpenDeliveryProps {
  delivery: Delivery
  invalidates: QueryKey[]
  about: ReactNode
}

function OpenDelivery({ delivery, invalidates, about }: OpenDeliveryProps) {
  const { accountId } = useAccount()
  const { deliveryId, eventId, state, type, createdAt } = delivery
  const retry = useChange({
    change: () => api.webhook.retry.mutate({ accountId, deliveryId }),
    invalidates,
    onDone: ({ endpointState }) =>
      notifySuccess(
        endpointState === 'enabled'
          ? t`Delivery queued.`
          : t`Delivery queued. It is sent once the endpoint is enabled.`,
      ),
  })
  return (
    <Box py="xs">
      <Group justify="space-between" align="flex-start" mb="sm" gap="sm">
        <Box flex={1} miw={200} fz="sm">
          {about}
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <Trans>
              webhook-id <Code fz="inherit">{eventId}</Code>
            </Trans>
          </Text>
          <Text size="xs" c="dimmed">
            <Trans>
              Created: <LogTime at={createdAt} />
            </Trans>
          </Text>
          <NextAttempt delivery={delivery} />
        </Box>
        {type === undefined ? (
          <Text size="xs" c="dimmed" maw={220}>{t`The event has been deleted and cannot be sent again.`}</Text>
        ) : (
          <ChangeButton size="xs" variant="default" icon={IconRefresh} change={retry}>
            {state === 'delivered' ? t`Redeliver` : t`Retry now`}
          </ChangeButton>
        )}
      </Group>
      <AttemptList attempts={delivery.attempts} />
      {type !== undefined && <Payload deliveryId={deliveryId} />}
    </Box>
  )
}

/** The request body, loaded when opened. */
function Payload({ deliveryId }: { deliveryId: string }) {
  const { accountId, viewedUntil } = useAccount()
  const [opened, setOpened] = useState(false)
  const payload = useQuery({
    queryKey: ['payload', accountId, deliveryId],
    queryFn: ({ signal }) => api.webhook.payload.query({ accountId, deliveryId }, { signal }),
    enabled: opened,
    staleTime: Infinity,
  })
  if (viewedUntil !== undefined)
    return (
      <Text size="xs" c="dimmed" mt="sm">
        <Trans>Only members of the account see payloads, and responses to message.replied events.</Trans>
      </Text>
    )
  return (
    <Box mt="sm">
      <Button
        size="compact-xs"
        variant="default"
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
        mb={opened ? 'xs' : 0}
      >
        {opened ? t`Hide payload` : t`Show payload`}
      </Button>
      {opened && payload.isPending && <LoadingSkeleton lines={3} />}
      {opened && payload.isError && <ErrorAlert error={payload.error} onRetry={() => payload.refetch()} />}
      {opened && payload.data && <CodeBlock label={t`Payload`} code={indent(payload.data.payload)} />}
    </Box>
  )
}

function indent(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}

function NextAttempt({ delivery: { state, nextAttemptAt } }: { delivery: Delivery }) {
  if (state !== 'waiting') return null
  const isDue = nextAttemptAt !== undefined && Date.parse(nextAttemptAt) <= Date.now()
  return (
    <Text size="xs" c="dimmed">
      {isDue && t`Due now.`}
      {nextAttemptAt === undefined && t`Waiting until the endpoint is enabled.`}
      {nextAttemptAt !== undefined && !isDue && (
        <Trans>
          Next attempt: <LogTime at={nextAttemptAt} />
        </Trans>
      )}
    </Text>
  )
}

function toneOf({ state, attempts }: Delivery): Tone {
  switch (state) {
    case 'waiting':
      return attempts.length > 0 ? 'warning' : 'neutral'
    case 'delivered':
      return 'good'
    case 'failed':
      return 'bad'
  }
}

function countAttempts({ attempts: { length } }: Delivery): string {
  if (length === 0) return t`No attempts`
  return plural(length, { one: '# attempt', other: '# attempts' })
}

/** The attempts of a delivery with the responses. */
function AttemptList({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0) return <Text size="sm" c="dimmed">{t`No attempts yet.`}</Text>
  return (
    <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
      {attempts.map((attempt) => (
        <Box component="li" key={attempt.number}>
          <Group gap="xs" fz="sm">
            <Text span inherit fw={500}>
              <Trans>Attempt {attempt.number}</Trans>
            </Text>
            <StatusBadge tone={attempt.error === undefined ? 'good' : 'bad'}>
              {attempt.statusCode === undefined ? t`No response` : `HTTP ${attempt.statusCode}`}
            </StatusBadge>
            <Text span inherit c="dimmed">
              <LogTime at={attempt.startedAt} /> · {describeDuration(attempt.durationMilliseconds)}
            </Text>
          </Group>
          <ResponseDetails attempt={attempt} />
        </Box>
      ))}
    </Stack>
  )
}

type AttemptResult = Partial<Pick<Attempt, 'statusCode' | 'error' | 'facts' | 'responseStart'>>

/** The error, unless the status code already shows it, and the start of the response. */
export function ResponseDetails({ attempt: { statusCode, error, facts, responseStart } }: { attempt: AttemptResult }) {
  return (
    <>
      {error !== undefined && error !== `HTTP ${statusCode}` && (
        <Text size="sm" mt={4}>
          {toSentence(say({ error, facts }, 'error'))}
        </Text>
      )}
      {responseStart !== undefined && responseStart !== '' && (
        <Code
          block
          mt={6}
          mah={160}
          bg="var(--mantine-color-body)"
          bd="1px solid var(--waybill-line)"
          tabIndex={0}
          role="region"
          aria-label={t`Start of the response`}
          style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {responseStart}
        </Code>
      )}
    </>
  )
}
