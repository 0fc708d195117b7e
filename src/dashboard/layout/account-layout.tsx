import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Group, Text } from '@mantine/core'
import { IconAlertCircle, IconBuildingOff, IconEye, IconPlayerPause } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Navigate, Outlet, useLocation, useNavigate, useParams } from 'react-router'
import { operatorApi } from '../api/client.ts'
import { useChange } from '../api/use-change.ts'
import { describeFinding } from '../pages/whatsapp-accounts/describe.ts'
import { stepOf } from '../pages/whatsapp-accounts/checklist.ts'
import { findSendingProblem, lacksDefault, useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { AccountContext, sessionKey, useAccount, useUser } from '../session/session.ts'
import { Button, TextLink } from '../ui/button.tsx'
import { LogTime } from '../ui/date-time.tsx'
import { PageHeader } from '../ui/page.tsx'
import { nameNumber } from '../ui/phone-number.ts'
import { EmptyState } from '../ui/placeholders.tsx'
import { NotFoundPage } from './fallback-pages.tsx'

/** Provides the account in the URL to the pages below it. */
export function AccountLayout() {
  const { accountId } = useParams()
  const account = useUser().accounts.find((account) => account.accountId === accountId)
  if (!account) return <NotFoundPage />
  return (
    <AccountContext value={{ ...account, canChange: account.role === 'owner' }}>
      {account.viewedUntil !== undefined && <OperatorBanner until={account.viewedUntil} />}
      {account.suspendedAt !== undefined && <SuspendedBanner since={account.suspendedAt} />}
      <SendingBanner />
      {/* The key resets forms when the account changes. */}
      <Outlet key={account.accountId} />
    </AccountContext>
  )
}

const firstPage = 'overview'

/** Redirects to the account in the URL, or to the first account. */
export function FirstAccountPage() {
  const named = useParams()['accountId']
  const { accounts, email, operator } = useUser()
  const accountId = named ?? accounts[0]?.accountId
  if (accountId !== undefined) return <Navigate to={`/${accountId}/${firstPage}`} replace />
  if (operator !== undefined) return <Navigate to="/console" replace />
  return (
    <>
      <PageHeader title={t`Welcome`} />
      <EmptyState icon={IconBuildingOff} title={t`No accounts`}>
        <Trans>Ask your administrator to invite {email} to an account.</Trans>
      </EmptyState>
    </>
  )
}

function OperatorBanner({ until }: { until: string }) {
  const { accountId, name } = useAccount()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const leave = async () => {
    await navigate('/console')
    // The session lists the account: without it, this page would not be found.
    await queryClient.invalidateQueries({ queryKey: sessionKey })
  }
  const close = useChange({
    change: () => operatorApi.account.closeView.mutate({ accountId }),
    invalidates: [],
    onDone: () => void leave(),
  })
  return (
    <Box role="note" aria-label={t`Operator view`} mb="lg">
      <Alert color="blue" icon={<IconEye />} title={t`You are viewing ${name} as an operator`}>
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            <Trans>
              Read-only until <LogTime at={until} />. The audit log shows its members that you opened it.
            </Trans>
          </Text>
          <Button size="xs" variant="default" change={close}>{t`Stop viewing`}</Button>
        </Group>
      </Alert>
    </Box>
  )
}

function SuspendedBanner({ since }: { since: string }) {
  return (
    <Alert color="red" icon={<IconPlayerPause />} title={t`This account is suspended`} role="alert" mb="lg">
      <Text size="sm">
        <Trans>
          Nothing can be sent since <LogTime at={since} />. Ask the operator of this server to resume the account.
        </Trans>
      </Text>
    </Alert>
  )
}

/** Shown on every page while nothing can be sent from the default WhatsApp account. */
function SendingBanner() {
  const { accountId } = useAccount()
  const { pathname } = useLocation()
  const health = useHealth(accountId).data
  if (lacksDefault(health)) return <NoDefault />
  const problem = findSendingProblem(health)
  const finding = problem?.findings.find(({ blocksSending }) => blocksSending)
  if (!problem || !finding) return null
  const step = stepOf(finding.code)
  const page = `/${accountId}/whatsapp-accounts/${problem.accountId}`
  // Another number can still send.
  const otherSends = health?.whatsAppAccounts.some(({ canSend }) => canSend)
  const number = nameNumber(problem)
  // The pages of WhatsApp accounts say themselves what is wrong.
  const isExplained = pathname.startsWith(`/${accountId}/whatsapp-accounts`)
  return (
    <Alert
      color="red"
      icon={<IconAlertCircle />}
      title={otherSends ? t`${number} cannot send messages` : t`Messages cannot be sent`}
      role="alert"
      mb="lg"
    >
      <Text size="sm">
        {!isExplained && `${describeFinding(finding).message} `}
        {!isExplained && finding.since !== undefined && (
          <>
            <Trans>
              Since <LogTime at={finding.since} />.
            </Trans>{' '}
          </>
        )}
        {problem.displayPhoneNumber === undefined ? (
          <Trans>Requests that don’t set accountId are rejected, because it is the default WhatsApp account.</Trans>
        ) : (
          <Trans>
            Requests that don’t set accountId are rejected, because {number} is the default WhatsApp account.
          </Trans>
        )}
      </Text>
      <TextLink to={`${page}#${step ?? 'health'}`} size="sm" mt={4} display="inline-block">
        {pathname === page ? (step ? t`Go to the step that fixes it` : t`Go to what to do`) : t`See what to do`}
      </TextLink>
    </Alert>
  )
}

function NoDefault() {
  const { accountId } = useAccount()
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={t`No default WhatsApp account`} role="alert" mb="lg">
      <Text size="sm">
        <Trans>Requests that don’t set accountId are rejected. Make one of your WhatsApp accounts the default.</Trans>
      </Text>
      <TextLink to={`/${accountId}/whatsapp-accounts`} size="sm" mt={4} display="inline-block">
        <Trans>WhatsApp accounts</Trans>
      </TextLink>
    </Alert>
  )
}
