import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Group, Progress, Stack, Switch, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { MinuteTime } from '../../ui/date-time.tsx'
import { PageHeader, Section, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { AllowListSection } from './allow-list-section.tsx'
import { ClientsSection } from './clients-section.tsx'
import { KeySection } from './key-section.tsx'
import { MessageContentsSection } from './message-contents-section.tsx'
import { SnippetsSection } from './snippets-section.tsx'
import { type ApiAccess, apiAccessKey, useApiAccess, useRecentUse } from './use-api-access.ts'
import { TextLink } from '../../ui/button.tsx'

export function PublicApiPage() {
  const access = useApiAccess()
  /** Kept only in the memory of this page; the server stores a hash. */
  const [issuedKey, setIssuedKey] = useState<string>()
  useHashTarget(access.data !== undefined)
  return (
    <>
      <PageHeader title={t`Public API`} description={t`API access for your applications.`} />
      {access.isPending && <CardsSkeleton cards={4} />}
      {access.isError && !access.data && <ErrorAlert error={access.error} onRetry={() => access.refetch()} />}
      {access.data && (
        <>
          {!access.data.enabled && <AccessOffAlert />}
          <LockedOutAlert access={access.data} />
          <Contents />
          <KeySection issuedKey={issuedKey} onIssued={setIssuedKey} storedKey={access.data.key} />
          <PermissionsSection access={access.data} />
          <AllowListSection allowList={access.data.allowList} you={access.data.you} />
          <RateLimitSection rateLimit={access.data.rateLimit} />
          <MessageContentsSection keptDays={access.data.messageContentsDays} />
          <SnippetsSection apiKey={issuedKey} />
          <ClientsSection />
        </>
      )}
    </>
  )
}

/** Links to the sections: the key, what it may do, the privacy of messages, then what developers need. */
function Contents() {
  const entries = [
    { target: 'api-key', title: t`API key` },
    { target: 'permissions', title: t`Permissions` },
    { target: 'allow-list', title: t`IP allow-list` },
    { target: 'rate-limit', title: t`Rate limit` },
    { target: 'message-contents', title: t`Message contents` },
    { target: 'example-request', title: t`Example request` },
    { target: 'clients', title: t`Clients and types` },
  ]
  return (
    <Group component="nav" aria-label={t`On this page`} gap="xs" mb="lg">
      {entries.map(({ target, title }) => (
        <TextLink key={target} to={`#${target}`} replace size="sm" underline="hover" mr="sm">
          {title}
        </TextLink>
      ))}
    </Group>
  )
}

function AccessOffAlert() {
  return (
    <Alert
      color="red"
      mb="lg"
      icon={<IconAlertTriangle />}
      title={t`Every request with your key is rejected`}
      role="status"
    >
      <Trans>API access is turned off for this account. To accept requests again, turn it on below.</Trans>
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
      title={t`Your IP address ${you.address} is not on the allow-list`}
      role="status"
    >
      <Trans>
        API requests from your address are rejected. The dashboard is not affected. If your applications use other
        addresses, no action is needed.
      </Trans>
    </Alert>
  )
}

/** What the key may do at all, and what it may do besides sending. */
function PermissionsSection({ access: { enabled, templateChanges, mcp } }: { access: ApiAccess }) {
  const { canChange } = useAccount()
  return (
    <Section
      id="permissions"
      title={t`Permissions`}
      description={canChange ? t`What requests with your key may do.` : `${translate(viewersHint)}.`}
    >
      <Stack gap="md">
        <AccessSwitch enabled={enabled} />
        <TemplateChangesSwitch enabled={templateChanges} />
        <McpSwitch enabled={mcp} />
      </Stack>
    </Section>
  )
}

function AccessSwitch({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const change = useChange({
    change: (enabled: boolean) => api.publicApi.setAccess.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? t`API access is on.` : t`API access is off.`),
    onDone: close,
  })
  return (
    <>
      <Switch
        label={t`Allow API requests`}
        description={t`When off, every request with your key is rejected.`}
        checked={enabled}
        disabled={!canChange || change.isPending}
        onChange={() => (enabled ? open() : change.mutate(true))}
      />
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Turn off API access?`}
        consequence={t`Every request with your key is rejected, so your applications cannot send messages. Messages that were already sent are still delivered and reported.`}
        confirmLabel={t`Turn off`}
        change={{ isPending: change.isPending, mutate: () => change.mutate(false) }}
      />
    </>
  )
}

/** Off by default, so that existing keys do not silently gain permission to delete templates. */
function TemplateChangesSwitch({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const change = useChange({
    change: (enabled: boolean) => api.publicApi.setTemplateChanges.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) => (enabled ? t`The API key may change templates.` : t`The API key may not change templates.`),
  })
  return (
    <Switch
      label={t`Allow template changes`}
      description={t`When off, requests that create, change or delete templates are rejected. Sending is not affected.`}
      checked={enabled}
      disabled={!canChange || change.isPending}
      onChange={() => change.mutate(!enabled)}
    />
  )
}

function McpSwitch({ enabled }: { enabled: boolean }) {
  const { accountId, canChange } = useAccount()
  const change = useChange({
    change: (enabled: boolean) => api.publicApi.setMcp.mutate({ accountId, enabled }),
    invalidates: [apiAccessKey(accountId)],
    done: ({ enabled }) =>
      enabled ? t`AI assistants may use the API key.` : t`AI assistants may not use the API key.`,
  })
  return (
    <Switch
      label={t`Allow AI assistants (MCP)`}
      description={t`When off, AI assistants with your key cannot send or read messages through /mcp.`}
      checked={enabled}
      disabled={!canChange || change.isPending}
      onChange={() => change.mutate(!enabled)}
    />
  )
}

function RateLimitSection({ rateLimit: { limit, used } }: Pick<ApiAccess, 'rateLimit'>) {
  const { accountId } = useAccount()
  const share = limit === 0 ? 100 : (used / limit) * 100
  return (
    <Section
      id="rate-limit"
      title={t`Rate limit`}
      description={t`Requests per minute that send a message or a code, including tests and failed requests. Above the limit, requests are rejected and can be retried later.`}
    >
      <Text size="sm" mb={6}>
        <Trans>
          {formatNumber(used)} of {formatNumber(limit)} send requests in this minute
        </Trans>
      </Text>
      <Progress.Root size="lg">
        <Progress.Section value={share} color={colourOf(share)} aria-label={t`Used this minute`} />
      </Progress.Root>
      <RecentUse />
      {used >= limit && (
        <Text size="sm" c="var(--mantine-color-error)" mt="xs" role="status">
          <Trans>Limit reached. Requests are rejected until the minute ends.</Trans>
        </Text>
      )}
      <Box mt="md">
        <CopyField
          label={t`Raise the limit`}
          description={t`Only the operator of this server can: with this command and a number of your choice.`}
          value={`waybill account update ${accountId} --rate-limit ${raised(limit)}`}
        />
      </Box>
    </Section>
  )
}

/** How close API use came to the limit in the last day; the current minute alone says little. */
function RecentUse() {
  const use = useRecentUse()
  if (!use) return null
  const { since, highestMinute, rejected } = use
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {highestMinute === undefined ? (
        <Trans>
          No send requests by the API since <MinuteTime at={since} />.
        </Trans>
      ) : (
        <Trans>
          Busiest minute since <MinuteTime at={since} />: {formatNumber(highestMinute.sends)} send requests by the API,
          at <MinuteTime at={highestMinute.at} />.
        </Trans>
      )}{' '}
      {describeRejected(rejected)}
    </Text>
  )
}

/** Raising the limit of the account does not help against the others. */
function describeRejected({
  rateLimit,
  codeLimit,
  whatsApp,
}: NonNullable<ReturnType<typeof useRecentUse>>['rejected']): string {
  const parts = [
    rateLimit === 0
      ? t`No request exceeded this limit.`
      : plural(rateLimit, { one: '# request exceeded this limit.', other: '# requests exceeded this limit.' }),
    codeLimit > 0 &&
      plural(codeLimit, {
        one: '# request exceeded the limits for one-time codes.',
        other: '# requests exceeded the limits for one-time codes.',
      }),
    whatsApp > 0 &&
      plural(whatsApp, {
        one: 'WhatsApp throttled # request, which a higher limit does not change.',
        other: 'WhatsApp throttled # requests, which a higher limit does not change.',
      }),
  ]
  return parts.filter(Boolean).join(' ')
}

/** A higher limit, for the example command. */
function raised(limit: number): number {
  return Math.max(limit * 2, 60)
}

function colourOf(share: number): string {
  if (share >= 100) return 'red'
  return share >= 80 ? 'yellow' : 'waybill'
}
