import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Anchor, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { describeFinding } from '../pages/whatsapp-accounts/describe.ts'
import { stepOf } from '../pages/whatsapp-accounts/step-names.ts'
import { findSendingProblem, lacksDefault, useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { useAccount } from '../session/session.ts'
import { LogTime } from '../ui/date-time.tsx'
import { nameNumber } from '../ui/phone-number.ts'

/** Shown on every page while nothing can be sent from the default WhatsApp account. */
export function SendingBanner() {
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
      <Anchor component={Link} to={`${page}#${step ?? 'health'}`} size="sm" mt={4} display="inline-block">
        {pathname === page ? (step ? t`Go to the step that fixes it` : t`Go to what to do`) : t`See what to do`}
      </Anchor>
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
      <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} size="sm" mt={4} display="inline-block">
        <Trans>WhatsApp accounts</Trans>
      </Anchor>
    </Alert>
  )
}
