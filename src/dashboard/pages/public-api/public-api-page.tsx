import { Alert, Group, Progress, Switch, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { AllowListSection } from './allow-list-section.tsx'
import { KeySection } from './key-section.tsx'
import { SnippetsSection } from './snippets-section.tsx'
import { type ApiAccess, apiAccessKey, useApiAccess } from './use-api-access.ts'

export function PublicApiPage() {
  const access = useApiAccess()
  /** In the memory of this page only: the server has forgotten it already. */
  const [issuedKey, setIssuedKey] = useState<string>()
  return (
    <>
      <PageHeader title="Public API" description="How your applications send messages through this account." />
      {access.isPending && <LoadingSkeleton lines={8} />}
      {access.isError && !access.data && <ErrorAlert error={access.error} onRetry={() => void access.refetch()} />}
      {access.data && (
        <>
          <LockedOutAlert access={access.data} />
          <AccessSection enabled={access.data.enabled} />
          <KeySection issuedKey={issuedKey} onIssued={setIssuedKey} storedKey={access.data.key} />
          <AllowListSection allowList={access.data.allowList} you={access.data.you} />
          <RateLimitSection rateLimit={access.data.rateLimit} />
          <SnippetsSection apiKey={issuedKey} />
        </>
      )}
    </>
  )
}

/** Says that the allow-list leaves out the address that one is looking from. */
function LockedOutAlert({ access: { you } }: { access: Pick<ApiAccess, 'you'> }) {
  if (you.allowed) return null
  return (
    <Alert
      color="yellow"
      mb="lg"
      icon={<IconAlertTriangle />}
      title={`Your address ${you.address} is not on the allow-list`}
      role="status"
    >
      Requests to the API from your address are refused. The dashboard keeps working. If your applications run
      elsewhere, all is well.
    </Alert>
  )
}

function AccessSection({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const [asking, { open, close }] = useDisclosure()
  const change = useChange({
    change: (enabled: boolean) => settings.publicApi.setAccess.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? 'API access is on.' : 'API access is off.'),
    onDone: close,
  })
  return (
    <Section
      title="API access"
      description="While it is off, every request with your key is refused. Nothing else changes."
      actions={<StatusBadge tone={enabled ? 'good' : 'bad'}>{enabled ? 'On' : 'Off'}</StatusBadge>}
    >
      <Tooltip label={viewersHint} disabled={canChange} position="top-start">
        <Group w="fit-content">
          <Switch
            label="Let applications use the API"
            checked={enabled}
            disabled={!canChange || change.isPending}
            onChange={() => (enabled ? open() : change.mutate(true))}
          />
        </Group>
      </Tooltip>
      {!canChange && (
        <Text size="xs" c="dimmed" mt="xs">
          {viewersHint}.
        </Text>
      )}
      <ConfirmModal
        opened={asking}
        onClose={close}
        title="Switch API access off?"
        consequence="From then on every request with your key is refused, so your applications send nothing. Messages that were sent already are still delivered and reported."
        confirmLabel="Switch off"
        pending={change.isPending}
        onConfirm={() => change.mutate(false)}
      />
    </Section>
  )
}

const number = new Intl.NumberFormat('en')

function RateLimitSection({ rateLimit: { limit, used } }: Pick<ApiAccess, 'rateLimit'>) {
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
