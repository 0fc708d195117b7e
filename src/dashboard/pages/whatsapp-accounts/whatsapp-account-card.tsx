import { Anchor, Box, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlugConnected } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { Link } from 'react-router'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { MoreMenu } from './more-menu.tsx'
import { describeThroughput, Notice, type TokenTest } from './notice.tsx'
import { ReplaceSecretsModal } from './replace-secrets-modal.tsx'
import { useHealth } from './use-health.ts'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'

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
      aria-label={`WhatsApp account ${account.phoneNumberId}`}
      withBorder
      p={{ base: 'md', sm: 'lg' }}
    >
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0}>
          <Title order={2}>
            <Text component="span" display="block" size="xs" fw={400} c="dimmed">
              {account.verifiedName ?? 'Phone number ID'}
            </Text>
            {account.displayPhoneNumber ?? account.phoneNumberId}
          </Title>
          <Group gap={6} mt={6}>
            <State account={account} />
            {account.isDefault && <StatusBadge tone="active">Default</StatusBadge>}
          </Group>
        </Box>
        <Group gap="xs">
          <ChangeButton
            variant="default"
            leftSection={<IconPlugConnected size={16} />}
            loading={ask.isPending}
            onClick={() => ask.mutate()}
          >
            Test token
          </ChangeButton>
          <ChangeButton variant="default" leftSection={<IconKey size={16} />} onClick={open}>
            Replace secrets
          </ChangeButton>
          <MoreMenu account={account} onChanged={clearTest} />
        </Group>
      </Group>
      <Notice account={account} test={test} onReplace={open} onActivated={clearTest} onClose={clearTest} />
      <WhatsAppAccountDetails account={account} />
      <HealthSummary account={account} />
      <Text size="xs" c="dimmed" mt="md" component="div">
        accountId in requests: <Copyable value={account.whatsAppAccountId} label="WhatsApp account ID" />
      </Text>
      <ReplaceSecretsModal account={account} opened={replacing} onClose={close} onReplaced={clearTest} />
    </Paper>
  )
}

/** The most important finding, and the way to the others. */
function HealthSummary({ account }: { account: WhatsAppAccount }) {
  const { accountId } = useAccount()
  const health = useHealth(accountId).data?.whatsAppAccounts.find((one) => one.accountId === account.whatsAppAccountId)
  const [first, ...others] = (health?.findings ?? []).filter(
    ({ code }) => code !== 'rejected' && code !== 'deactivated',
  )
  return (
    <Text size="sm" mt="md" component="div">
      {first && (
        <Text component="span" size="sm" {...(first.severity === 'error' && { c: 'var(--mantine-color-error)' })}>
          {first.message}
          {others.length > 0 && ` And ${others.length} more.`}{' '}
        </Text>
      )}
      <Anchor component={Link} to={account.whatsAppAccountId} size="sm">
        Setup and health
      </Anchor>
    </Text>
  )
}

function State({ account }: { account: WhatsAppAccount }) {
  if (account.active) return <StatusBadge tone="good">Active</StatusBadge>
  if (account.switchedOff) return <StatusBadge tone="neutral">Inactive</StatusBadge>
  return <StatusBadge tone="bad">Inactive: rejected by WhatsApp</StatusBadge>
}

function WhatsAppAccountDetails({ account }: { account: WhatsAppAccount }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 3 }} spacing="lg" verticalSpacing="md" mt="lg" mb={0}>
      <Fact name="Phone number ID">
        <Copyable value={account.phoneNumberId} label="Phone number ID" />
      </Fact>
      <Fact name="WABA ID">
        <Copyable value={account.wabaId} label="WABA ID" />
      </Fact>
      <Fact name="Quality rating">
        <QualityBadge quality={account.qualityRating} />
      </Fact>
      <Fact name="Throughput">
        {account.throughputLevel === undefined ? (
          <Text component="span" size="sm" c="dimmed">
            Not reported yet
          </Text>
        ) : (
          describeThroughput(account.throughputLevel)
        )}
      </Fact>
      <Fact name="Access token">Set (hidden)</Fact>
      <Fact name="App secret">{account.hasAppSecret ? 'Set (hidden)' : 'Not set'}</Fact>
      {account.hasAppSecret && (
        <Fact name="Callback URL">
          <Copyable value={callbackUrl(account)} label="Callback URL" />
        </Fact>
      )}
      <Fact name="Added">
        <DateTime at={account.createdAt} />
      </Fact>
    </SimpleGrid>
  )
}

/** The callback URL to enter in the Meta app. */
function callbackUrl({ whatsAppAccountId }: WhatsAppAccount): string {
  return new URL(`/webhooks/whatsapp/${whatsAppAccountId}`, window.location.origin).href
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Box>
      <Text component="dt" size="xs" c="dimmed" mb={2}>
        {name}
      </Text>
      <Box component="dd" m={0} fz="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Box>
    </Box>
  )
}
