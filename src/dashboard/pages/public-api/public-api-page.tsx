import { Alert, Box, Group, Progress, Switch, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { AllowListSection } from './allow-list-section.tsx'
import { ClientsSection } from './clients-section.tsx'
import { KeySection } from './key-section.tsx'
import { SnippetsSection } from './snippets-section.tsx'
import { type ApiAccess, apiAccessKey, useApiAccess } from './use-api-access.ts'

export function PublicApiPage() {
  const access = useApiAccess()
  /** Kept only in the memory of this page; the server stores a hash. */
  const [issuedKey, setIssuedKey] = useState<string>()
  return (
    <>
      <PageHeader title="Public API" description="API access for your applications." />
      {access.isPending && <LoadingSkeleton lines={8} />}
      {access.isError && !access.data && <ErrorAlert error={access.error} onRetry={() => access.refetch()} />}
      {access.data && (
        <>
          {!access.data.enabled && <AccessOffAlert />}
          <LockedOutAlert access={access.data} />
          <KeySection issuedKey={issuedKey} onIssued={setIssuedKey} storedKey={access.data.key} />
          <SnippetsSection apiKey={issuedKey} />
          <RateLimitSection rateLimit={access.data.rateLimit} />
          <AllowListSection allowList={access.data.allowList} you={access.data.you} />
          <AccessSection enabled={access.data.enabled} />
          <TemplateChangesSection enabled={access.data.templateChanges} />
          <ClientsSection />
        </>
      )}
    </>
  )
}

function AccessOffAlert() {
  return (
    <Alert
      color="red"
      mb="lg"
      icon={<IconAlertTriangle />}
      title="Every request with your key is rejected"
      role="status"
    >
      API access is turned off for this account. To accept requests again, turn it on below.
    </Alert>
  )
}

/** Warns that the allow-list does not cover the user's address. */
function LockedOutAlert({ access: { you } }: { access: Pick<ApiAccess, 'you'> }) {
  if (you.allowed) return null
  return (
    <Alert
      color="yellow"
      mb="lg"
      icon={<IconAlertTriangle />}
      title={`Your IP address ${you.address} is not on the allow-list`}
      role="status"
    >
      API requests from your address are rejected. The dashboard is not affected. If your applications use other
      addresses, no action is needed.
    </Alert>
  )
}

function AccessSection({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const change = useChange({
    change: (enabled: boolean) => api.publicApi.setAccess.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? 'API access is on.' : 'API access is off.'),
    onDone: close,
  })
  return (
    <Section
      title="API access"
      description="When off, every request with your key is rejected."
      actions={<StatusBadge tone={enabled ? 'good' : 'bad'}>{enabled ? 'On' : 'Off'}</StatusBadge>}
    >
      <Tooltip label={viewersHint} disabled={canChange} position="top-start">
        <Group w="fit-content">
          <Switch
            label="Allow API requests"
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
        opened={confirming}
        onClose={close}
        title="Turn off API access?"
        consequence="Every request with your key is rejected, so your applications cannot send messages. Messages that were already sent are still delivered and reported."
        confirmLabel="Turn off"
        pending={change.isPending}
        onConfirm={() => change.mutate(false)}
      />
    </Section>
  )
}

/** A key that exists must not gain the power to delete templates silently, so this is off at first. */
function TemplateChangesSection({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const change = useChange({
    change: (enabled: boolean) => api.publicApi.setTemplateChanges.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? 'The API key may change templates.' : 'The API key may not change templates.'),
  })
  return (
    <Section
      title="Template changes"
      description="Whether the API key may create, change and delete templates. Sending needs no permission of its own."
      actions={<StatusBadge tone={enabled ? 'good' : 'neutral'}>{enabled ? 'On' : 'Off'}</StatusBadge>}
    >
      <Tooltip label={viewersHint} disabled={canChange} position="top-start">
        <Group w="fit-content">
          <Switch
            label="Allow template changes"
            checked={enabled}
            disabled={!canChange || change.isPending}
            onChange={() => change.mutate(!enabled)}
          />
        </Group>
      </Tooltip>
    </Section>
  )
}

const number = new Intl.NumberFormat('en')

function RateLimitSection({ rateLimit: { limit, used } }: Pick<ApiAccess, 'rateLimit'>) {
  const { accountId } = useAccount()
  const share = limit === 0 ? 100 : (used / limit) * 100
  return (
    <Section
      title="Rate limit"
      description="Maximum number of messages per minute, including test messages. Requests above the limit are rejected and can be retried later."
    >
      <Text size="sm" mb={6}>
        {number.format(used)} of {number.format(limit)} used this minute
      </Text>
      <Progress.Root size="lg">
        <Progress.Section value={share} color={colourOf(share)} aria-label="Used this minute" />
      </Progress.Root>
      {used >= limit && (
        <Text size="sm" c="var(--mantine-color-error)" mt="xs" role="status">
          Limit reached. Requests are rejected until the minute ends.
        </Text>
      )}
      <Box mt="md">
        <CopyField
          label="Raise the limit"
          description="Only the operator of this server can: with this command and a number of your choice."
          value={`waybill account update ${accountId} --rate-limit ${raised(limit)}`}
        />
      </Box>
    </Section>
  )
}

/** An example of a higher limit. */
function raised(limit: number): number {
  return Math.max(limit * 2, 60)
}

function colourOf(share: number): string {
  if (share >= 100) return 'red'
  return share >= 80 ? 'yellow' : 'waybill'
}
