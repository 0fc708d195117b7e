import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconHeartbeat, IconKey, IconPlugConnected } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { describeAddressed, describeFinding } from './describe.ts'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { LabelBadge, QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton, LinkButton, TextLink } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Explained } from '../../ui/explained.tsx'
import { stepTitles, toSetUpState } from './checklist.ts'
import { MoreMenu } from './more-menu.tsx'
import { describeThroughput, Notice, SetUpBadge, type TokenTest } from './notice.tsx'
import { ReplaceSecretsModal } from './replace-secrets.tsx'
import { useHealth } from './use-health.ts'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'
import { nameNumber } from '../../ui/phone-number.ts'

export function WhatsAppAccountCard({ account }: { account: WhatsAppAccount }) {
  const [replacing, { open, close }] = useDisclosure()
  const [test, setTest] = useState<TokenTest>()
  const ask = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.test.mutate,
    onDone: setTest,
  })
  const clearTest = () => setTest(undefined)
  return (
    <Paper
      component="section"
      aria-label={t`WhatsApp account ${account.phoneNumberId}`}
      withBorder
      p={{ base: 'md', sm: 'lg' }}
    >
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0}>
          <Title order={2}>
            <Text component="span" display="block" size="xs" fw={400} c="dimmed">
              {account.verifiedName ?? t`Phone number ID`}
            </Text>
            {nameNumber(account)}
          </Title>
          <Group gap={6} mt={6}>
            <State account={account} />
            {account.isDefault && <LabelBadge>{t`Default`}</LabelBadge>}
          </Group>
        </Box>
        <Group gap="xs">
          <LinkButton to={account.whatsAppAccountId} size="xs" variant="default" icon={IconHeartbeat}>
            <Trans>Setup and health</Trans>
          </LinkButton>
          <ChangeButton size="xs" variant="default" icon={IconPlugConnected} change={ask}>{t`Test token`}</ChangeButton>
          <ChangeButton size="xs" variant="default" icon={IconKey} onClick={open}>{t`Replace secrets`}</ChangeButton>
          <MoreMenu account={account} onChanged={clearTest} />
        </Group>
      </Group>
      <Notice account={account} test={test} onReplace={open} onActivated={clearTest} onClose={clearTest} />
      <WhatsAppAccountDetails account={account} />
      <HealthSummary account={account} />
      <ReplaceSecretsModal account={account} opened={replacing} onClose={close} onReplaced={clearTest} />
    </Paper>
  )
}

/** The most important finding, and the next step of the setup. */
function HealthSummary({ account }: { account: WhatsAppAccount }) {
  const health = useHealthOf(account)
  const state = health?.active ? toSetUpState(health) : undefined
  const [first, ...others] = (health?.findings ?? []).filter(
    ({ code }) => code !== 'rejected' && code !== 'deactivated',
  )
  const next = state?.kind === 'incomplete' ? state.next : undefined
  if (!first && next === undefined) return null
  return (
    <Text size="sm" mt="md" component="div">
      {first && (
        <Text component="span" size="sm" {...(first.severity === 'error' && { c: 'var(--mantine-color-error)' })}>
          {describeFinding(first).message}
          {others.length > 0 && ` ${t`And ${others.length} more.`}`}{' '}
        </Text>
      )}
      {next && (
        <TextLink to={`${account.whatsAppAccountId}#${next}`} size="sm">
          <Trans>Continue setup: {translate(stepTitles[next])}</Trans>
        </TextLink>
      )}
    </Text>
  )
}

function useHealthOf({ whatsAppAccountId }: WhatsAppAccount): WhatsAppAccountHealth | undefined {
  const { accountId } = useAccount()
  return useHealth(accountId).data?.whatsAppAccounts.find((one) => one.accountId === whatsAppAccountId)
}

function State({ account }: { account: WhatsAppAccount }) {
  const health = useHealthOf(account)
  if (account.active) return health?.active ? <SetUpBadge state={toSetUpState(health)} /> : null
  if (account.switchedOff) return <StatusBadge tone="neutral">{t`Inactive`}</StatusBadge>
  return <StatusBadge tone="bad">{t`Inactive: rejected by WhatsApp`}</StatusBadge>
}

function WhatsAppAccountDetails({ account }: { account: WhatsAppAccount }) {
  const health = useHealthOf(account)
  const number = health?.number
  // What is not set here, or not reported yet, takes no space. Without an app secret here, that of the server counts.
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 3 }} spacing="lg" verticalSpacing="md" mt="lg" mb={0}>
      <Fact name={t`Phone number ID`} meaning={t`The ID by which Meta knows this number. It is not the number itself.`}>
        <Copyable value={account.phoneNumberId} label={t`Phone number ID`} />
      </Fact>
      <Fact
        name={t`WABA ID`}
        meaning={t`The WhatsApp Business Account at Meta that owns the number and its templates.`}
      >
        <Copyable value={account.wabaId} label={t`WABA ID`} />
      </Fact>
      <Fact name={t`Quality rating`} meaning={t`How WhatsApp rates the number, from blocks and reports by recipients.`}>
        <QualityBadge quality={account.qualityRating} />
      </Fact>
      {account.throughputLevel !== undefined && (
        <Fact name={t`Throughput`} meaning={t`How fast WhatsApp accepts messages from this number.`}>
          {describeThroughput(account.throughputLevel, number)}
        </Fact>
      )}
      {number?.messagingLimit !== undefined && (
        <Fact
          name={t`Messaging limit`}
          meaning={t`How many people WhatsApp lets you message in 24 hours. It rises with good quality.`}
        >
          {describeMessagingLimit(number)}
        </Fact>
      )}
      {health?.marketing.onboardingStatus !== undefined && (
        <Fact name={t`Marketing messages`} meaning={t`The interface of WhatsApp that sends your marketing templates.`}>
          {describeMarketingEndpoint(account, health.marketing)}
        </Fact>
      )}
      {account.hasAppSecret && (
        <>
          <Fact name={t`App secret`} meaning={t`Proves that statuses come from Meta.`}>
            {t`Set (hidden)`}
          </Fact>
          <Fact name={t`Callback URL`}>
            <Copyable value={callbackUrl(account)} label={t`Callback URL`} />
          </Fact>
        </>
      )}
      <Fact
        name={t`WhatsApp account ID`}
        meaning={t`Your developers set it as accountId in requests that send from this number.`}
      >
        <Copyable value={account.whatsAppAccountId} label={t`WhatsApp account ID`} />
      </Fact>
      <Fact name={t`Added`}>
        <DateTime at={account.createdAt} />
      </Fact>
    </SimpleGrid>
  )
}

/** The limit of the business portfolio, and how many people this number addressed. */
function describeMessagingLimit({ messagingLimit, addressed }: WhatsAppAccountHealth['number']): string {
  if (!addressed) return messagingLimit ?? ''
  const byNumber =
    addressed.byNumber < addressed.people ? ` ${t`(${formatNumber(addressed.byNumber)} by this number)`}` : ''
  return `${describeAddressed(addressed)}${byNumber}`
}

/** Where marketing templates are sent; the findings say what to do about it. */
function describeMarketingEndpoint(account: WhatsAppAccount, { endpoint }: WhatsAppAccountHealth['marketing']): string {
  if (endpoint === 'marketing_messages') return t`Marketing Messages API`
  return account.marketingSetting === 'cloud_api' ? t`Cloud API, as set here` : t`Cloud API, not onboarded`
}

/** The callback URL to enter in the Meta app. */
function callbackUrl({ whatsAppAccountId }: WhatsAppAccount): string {
  return new URL(`/webhooks/whatsapp/${whatsAppAccountId}`, window.location.origin).href
}

/** `meaning` explains Meta's word to readers who do not know it. */
function Fact({ name, meaning, children }: { name: string; meaning?: string; children: ReactNode }) {
  return (
    <Box>
      <Text component="dt" size="xs" c="dimmed" mb={2}>
        {meaning === undefined ? name : <Explained meaning={meaning}>{name}</Explained>}
      </Text>
      <Box component="dd" m={0} fz="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Box>
    </Box>
  )
}
