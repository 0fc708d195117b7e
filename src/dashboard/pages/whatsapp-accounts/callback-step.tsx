import { Alert, Anchor, Text } from '@mantine/core'
import { IconTool } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { CallbackValues } from './callback-values.tsx'
import { ReplaceSecretsButton } from './replace-secrets-button.tsx'
import { ActionStep, Step, type StepPlace } from './step.tsx'
import { healthKey } from './use-health.ts'

const texts = {
  title: 'Callback URL',
  purpose: 'Tells Meta where to send the statuses of messages.',
  done: 'Meta sends the statuses of messages to this server.',
}

/** Sets the callback URL, or shows what to enter at Meta where this server cannot set it. */
export function CallbackStep({ whatsAppAccountId, ...place }: StepPlace & { whatsAppAccountId: string }) {
  const { accountId, canChange } = useAccount()
  const setUp = useQuery({
    // Below the key of the health, so that replaced secrets are noticed.
    queryKey: [...healthKey(accountId), 'callback', whatsAppAccountId],
    queryFn: ({ signal }) => api.whatsAppAccount.callbackSetUp.query({ accountId, whatsAppAccountId }, { signal }),
    // It holds the verify token, which viewers do not see.
    enabled: canChange,
  }).data
  const { state } = place
  const obstacle = state.done ? undefined : setUp?.obstacle
  const lacksSecret = state.findings.some(({ code }) => code === 'app_secret_missing')
  if (!obstacle || !setUp)
    return (
      <ActionStep
        {...place}
        {...texts}
        action="Set callback URL"
        perform={() => api.whatsAppAccount.configureCallback.mutate({ accountId, whatsAppAccountId })}
      />
    )
  // An earlier attempt failed with other settings.
  const findings = state.findings.filter(({ code }) => code !== 'callback_problem' && code !== 'callback_missing')
  return (
    <Step {...place} {...texts} state={{ ...state, findings }}>
      {lacksSecret ? (
        <ReplaceSecretsButton whatsAppAccountId={whatsAppAccountId}>Add app secret</ReplaceSecretsButton>
      ) : (
        <Alert color="yellow" icon={<IconTool />}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {obstacle.message}
          </Text>
          <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
            {obstacle.fix}
          </Text>
        </Alert>
      )}
      <Text size="sm" mt="xs">
        {lacksSecret ? 'Then Waybill can set the URL. To enter it yourself, ' : 'Or enter the values yourself: '}
        <Anchor href="https://developers.facebook.com/apps" target="_blank" rel="noreferrer" inherit underline="always">
          open your app at Meta
        </Anchor>
        , then WhatsApp → Configuration → Edit.
      </Text>
      <CallbackValues enter={setUp.enter} />
    </Step>
  )
}
