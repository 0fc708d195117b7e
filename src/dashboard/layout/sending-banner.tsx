import { Alert, Anchor, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { stepOf } from '../pages/whatsapp-accounts/checklist.ts'
import { findSendingProblem, lacksDefault, useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { useAccount } from '../session/session.ts'
import { LogTime } from '../ui/date-time.tsx'

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
  return (
    <Alert color="red" icon={<IconAlertCircle />} title="Messages cannot be sent" role="alert" mb="lg">
      <Text size="sm">
        {finding.message}
        {finding.since !== undefined && (
          <>
            {' Since '}
            <LogTime at={finding.since} />,
          </>
        )}{' '}
        {finding.since === undefined ? 'Requests' : 'requests'} that don’t set accountId are rejected, because{' '}
        {problem.displayPhoneNumber ?? 'it'} is the default WhatsApp account.
      </Text>
      <Anchor component={Link} to={`${page}#${step ?? 'health'}`} size="sm" mt={4} display="inline-block">
        {pathname === page ? (step ? 'Go to the step that fixes it' : 'Go to what to do') : 'See what to do'}
      </Anchor>
    </Alert>
  )
}

function NoDefault() {
  const { accountId } = useAccount()
  return (
    <Alert color="red" icon={<IconAlertCircle />} title="No default WhatsApp account" role="alert" mb="lg">
      <Text size="sm">
        Requests that don’t set accountId are rejected. Make one of your WhatsApp accounts the default.
      </Text>
      <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} size="sm" mt={4} display="inline-block">
        WhatsApp accounts
      </Anchor>
    </Alert>
  )
}
