import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Box, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlugConnected } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { describeAddressed, describeFinding } from './describe.ts'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { LabelBadge, QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Explained } from '../../ui/explained.tsx'
import { toSetUpState } from './checklist.ts'
import { MoreMenu } from './more-menu.tsx'
import { describeThroughput, Notice, type TokenTest } from './notice.tsx'
import { ReplaceSecretsModal } from './replace-secrets.tsx'
import { SetUpBadge } from './set-up-badge.tsx'
import { stepTitles } from './step-names.ts'
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
            {account.isDefault && (
              <LabelBadge>
                <Trans>Default</Trans>
              </LabelBadge>
            )}
          </Group>
        </Box>
        <Group gap="xs">
          <ChangeButton
            size="xs"
            variant="default"
            leftSection={<IconPlugConnected size={14} />}
            loading={ask.isPending}
            onClick={() => ask.mutate()}
          >
            <Trans>Test token</Trans>
          </ChangeButton>
          <ChangeButton size="xs" variant="default" leftSection={<IconKey size={14} />} onClick={open}>
            <Trans>Replace secrets</Trans>
          </ChangeButton>
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

/** The most important finding, and a link to the others. */
function HealthSummary({ account }: { account: WhatsAppAccount }) {
  const health = useHealthOf(account)
  const state = health?.active ? toSetUpState(health) : undefined
  const [first, ...others] = (health?.findings ?? []).filter(
    ({ code }) => code !== 'rejected' && code !== 'deactivated',
  )
  return (
    <Text size="sm" mt="md" component="div">
      {first && (
        <Text component="span" size="sm" {...(first.severity === 'error' && { c: 'var(--mantine-color-error)' })}>
          {describeFinding(first).message}
          {others.length > 0 && ` ${t`And ${others.length} more.`}`}{' '}
        </Text>
      )}
      {state?.kind === 'incomplete' ? (
        <Anchor component={Link} to={`${account.whatsAppAccountId}#${state.next}`} size="sm">
          <Trans>Continue setup: {translate(stepTitles[state.next])}</Trans>
        </Anchor>
      ) : (
        <Anchor component={Link} to={account.whatsAppAccountId} size="sm">
          <Trans>Setup and health</Trans>
        </Anchor>
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
  if (account.switchedOff)
    return (
      <StatusBadge tone="neutral">
        <Trans>Inactive</Trans>
      </StatusBadge>
    )
  return (
    <StatusBadge tone="bad">
      <Trans>Inactive: rejected by WhatsApp</Trans>
    </StatusBadge>
  )
}

function WhatsAppAccountDetails({ account }: { account: WhatsAppAccount }) {
  const number = useHealthOf(account)?.number
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
      <Fact name={t`Throughput`} meaning={t`How fast WhatsApp accepts messages from this number.`}>
        {account.throughputLevel === undefined ? (
          <Text component="span" size="sm" c="dimmed">
            <Trans>Not reported yet</Trans>
          </Text>
        ) : (
          describeThroughput(account.throughputLevel, number)
        )}
      </Fact>
      <Fact
        name={t`Messaging limit`}
        meaning={t`How many people WhatsApp lets you message in 24 hours. It rises with good quality.`}
      >
        <MessagingLimit account={account} />
      </Fact>
      <Fact name={t`Marketing messages`} meaning={t`The interface of WhatsApp that sends your marketing templates.`}>
        <MarketingEndpoint account={account} />
      </Fact>
      <Fact
        name={t`App secret`}
        meaning={t`Proves that statuses come from Meta. Without one here, the secret of this server is used.`}
      >
        {account.hasAppSecret ? t`Set (hidden)` : t`Not set here`}
      </Fact>
      {account.hasAppSecret && (
        <Fact name={t`Callback URL`}>
          <Copyable value={callbackUrl(account)} label={t`Callback URL`} />
        </Fact>
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
function MessagingLimit({ account }: { account: WhatsAppAccount }) {
  const number = useHealthOf(account)?.number
  if (number?.messagingLimit === undefined)
    return (
      <Text component="span" size="sm" c="dimmed">
        <Trans>Not reported yet</Trans>
      </Text>
    )
  const { addressed } = number
  if (!addressed) return number.messagingLimit
  return (
    <>
      {describeAddressed(addressed)}
      {addressed.byNumber < addressed.people && ` ${t`(${formatNumber(addressed.byNumber)} by this number)`}`}
    </>
  )
}

/** Where marketing templates are sent; the findings say what to do about it. */
function MarketingEndpoint({ account }: { account: WhatsAppAccount }) {
  const marketing = useHealthOf(account)?.marketing
  if (marketing?.onboardingStatus === undefined)
    return (
      <Text component="span" size="sm" c="dimmed">
        <Trans>Not reported yet</Trans>
      </Text>
    )
  if (marketing.endpoint === 'marketing_messages') return t`Marketing Messages API`
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
