import { Alert, Anchor, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { findSendingProblem, lacksDefault, useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { useAccount } from '../session/session.ts'

/** Shown on every page while nothing can be sent from the default WhatsApp account. */
export function SendingBanner() {
  const { accountId } = useAccount()
  const health = useHealth(accountId).data
  if (lacksDefault(health)) return <NoDefault />
  const problem = findSendingProblem(health)
  const finding = problem?.findings.find(({ blocksSending }) => blocksSending)
  if (!problem || !finding) return null
  return (
    <Alert color="red" icon={<IconAlertCircle />} title="Messages cannot be sent" role="alert" mb="lg">
      <Text size="sm">
        {finding.message} Requests that don’t set accountId are rejected, because {problem.displayPhoneNumber ?? 'it'}{' '}
        is the default WhatsApp account.
      </Text>
      <Anchor
        component={Link}
        to={`/${accountId}/whatsapp-accounts/${problem.accountId}`}
        size="sm"
        mt={4}
        display="inline-block"
      >
        See what to do
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
