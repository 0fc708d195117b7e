import { Alert, Anchor, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { findSendingProblem, useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { useAccount } from '../session/session.ts'

/** Shown on every page while nothing can be sent from the default WhatsApp account. */
export function SendingBanner() {
  const { accountId } = useAccount()
  const problem = findSendingProblem(useHealth(accountId).data)
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
