import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck, IconPlayerPause } from '@tabler/icons-react'
import type { z } from 'zod'
import { sayFact } from '../../language/facts.ts'
import { describeFinding } from './describe.ts'
import { translate } from '../../language/i18n.ts'
import type { WhatsAppAccount, WhatsAppAccountTest } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { useHealth } from './use-health.ts'
import { useWhatsAppAccountChange } from './use-whatsapp-accounts.ts'
import { toInternational } from '../../../../contracts/phone-number.ts'
import type { SetUpState } from './checklist.ts'

export type TokenTest = z.output<typeof WhatsAppAccountTest>

interface NoticeProps {
  account: WhatsAppAccount
  /** The result of the last test on this page. */
  test: TokenTest | undefined
  onReplace: () => void
  onActivated: () => void
  onClose: () => void
}

/** The test result, and why the account cannot send. */
export function Notice({ account, test, onReplace, onActivated, onClose }: NoticeProps) {
  return (
    <>
      {test?.ok && <Accepted test={test} active={account.active} onClose={onClose} />}
      {test?.ok === false && account.switchedOff !== false && (
        <Failed test={test} active={account.active} onClose={onClose} />
      )}
      {!account.active &&
        (account.switchedOff ? (
          <Deactivated account={account} onActivated={onActivated} />
        ) : (
          <Refused
            account={account}
            isTested={test?.ok === false}
            isTokenFine={test?.ok === true}
            onReplace={onReplace}
            onActivated={onActivated}
          />
        ))}
    </>
  )
}

function Accepted({ test, active, onClose }: { test: TokenTest; active: boolean; onClose: () => void }) {
  const { displayPhoneNumber, verifiedName, qualityRating, throughputLevel } = test
  const details = [
    displayPhoneNumber !== undefined && { name: t`Number`, value: toInternational(displayPhoneNumber) },
    verifiedName !== undefined && { name: t`Verified name`, value: verifiedName },
    { name: t`Quality`, value: <QualityBadge quality={qualityRating} /> },
    throughputLevel !== undefined && { name: t`Throughput`, value: describeThroughput(throughputLevel) },
  ]
  return (
    <Alert
      mt="md"
      icon={<IconCircleCheck />}
      title={t`The token is valid`}
      role="status"
      withCloseButton
      closeButtonLabel={t`Dismiss`}
      onClose={onClose}
    >
      <Stack gap="sm">
        <DescriptionList items={details} />
        {!active && <Text size="sm">{t`The account is still inactive. Activate it to send from it again.`}</Text>}
      </Stack>
    </Alert>
  )
}

interface FailedProps {
  test: TokenTest
  active: boolean
  onClose: () => void
}

/** If the account is still active, the test failed for a reason other than the token. */
function Failed({ test: { reason, facts }, active, onClose }: FailedProps) {
  return (
    <Alert
      mt="md"
      color="red"
      icon={<IconAlertCircle />}
      title={t`The test failed`}
      role="alert"
      withCloseButton
      closeButtonLabel={t`Dismiss`}
      onClose={onClose}
    >
      <Text size="sm">{sayFact(facts?.['reason'], reason)}</Text>
      <Text size="sm" mt={4}>
        {active
          ? t`The account stays active. Check its phone number ID, or try again in a moment.`
          : t`The account stays deactivated. Check its token and phone number ID before you activate it.`}
      </Text>
    </Alert>
  )
}

function Deactivated({ account, onActivated }: { account: WhatsAppAccount; onActivated: () => void }) {
  return (
    <Alert mt="md" color="gray" icon={<IconPlayerPause />} title={t`Deactivated`}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          <Trans>This account cannot send messages until you activate it again.</Trans>
          {describeDefault(account)}
        </Text>
        <ActivateButton account={account} onActivated={onActivated} />
      </Stack>
    </Alert>
  )
}

interface RefusedProps {
  account: WhatsAppAccount
  isTested: boolean
  isTokenFine: boolean
  onReplace: () => void
  onActivated: () => void
}

function Refused({ account, isTested, isTokenFine, onReplace, onActivated }: RefusedProps) {
  const { accountId } = useAccount()
  const health = useHealth(accountId).data?.whatsAppAccounts.find((one) => one.accountId === account.whatsAppAccountId)
  const finding = health?.findings.find(({ code }) => code === 'rejected' || code === 'disabled')
  return (
    <Alert
      // The changed key makes screen readers announce the result.
      key={isTested ? 'tested' : 'known'}
      mt="md"
      color="red"
      icon={<IconAlertCircle />}
      title={isTested ? t`WhatsApp rejected the token` : t`WhatsApp rejected this account, so it cannot send messages`}
      role={isTested ? 'alert' : undefined}
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {finding ? describeFinding(finding).message : sayFact(account.facts?.['reason'], account.reason)}
          {finding?.since !== undefined && (
            <>
              {' '}
              <Trans>
                Since <LogTime at={finding.since} />.
              </Trans>
            </>
          )}
        </Text>
        <Text size="sm">
          <Trans>
            Replace the access token: create a new one at Meta, in Business settings → Users → System users. If WhatsApp
            reports another cause, fix it in WhatsApp Manager, then activate the account again.
          </Trans>
          {describeDefault(account)}
        </Text>
        <Group gap="xs">
          {!isTokenFine && <ChangeButton size="xs" onClick={onReplace}>{t`Replace token`}</ChangeButton>}
          <ActivateButton account={account} onActivated={onActivated} />
        </Group>
      </Stack>
    </Alert>
  )
}

function describeDefault({ isDefault }: WhatsAppAccount): string {
  return isDefault
    ? ` ${t`Requests that don’t set accountId are rejected too, because this is the default account.`}`
    : ''
}

export function ActivateButton({ account, onActivated }: { account: WhatsAppAccount; onActivated: () => void }) {
  const activate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: api.whatsAppAccount.activate.mutate,
    done: t`WhatsApp account activated.`,
    onDone: onActivated,
  })
  return <ChangeButton size="xs" variant="default" change={activate}>{t`Activate`}</ChangeButton>
}

/** Messages per phone number, in both directions (Meta, "Throughput"). */
const levels: Partial<Record<string, MessageDescriptor>> = {
  STANDARD: msg`Standard: up to 80 messages a second`,
  HIGH: msg`High: up to 1,000 messages a second`,
  NOT_APPLICABLE: msg`Not applicable`,
}

/** Values that WhatsApp adds later are shown unchanged. A number in the app has a fixed throughput, whatever its level. */
export function describeThroughput(level: string, { onBusinessApp }: { onBusinessApp?: boolean } = {}): string {
  if (onBusinessApp === true) return t`20 messages a second, because the WhatsApp Business app uses the number too`
  const known = levels[level]
  return known ? translate(known) : level
}

/** The state of a number, as in the list and above the checklist. */
export function SetUpBadge({ state: { kind } }: { state: SetUpState }) {
  switch (kind) {
    case 'ready':
      return <StatusBadge tone="good">{t`Ready to send`}</StatusBadge>
    case 'incomplete':
      return <StatusBadge tone="warning">{t`Setup incomplete`}</StatusBadge>
    case 'blocked':
      return <StatusBadge tone="bad">{t`Cannot send`}</StatusBadge>
  }
}
