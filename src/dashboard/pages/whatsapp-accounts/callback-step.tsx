import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Anchor, Text } from '@mantine/core'
import { IconTool } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { say } from '../../language/facts.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { CallbackValues } from './step-result.tsx'
import { ReplaceSecretsButton } from './replace-secrets.tsx'
import { ActionStep, Step, type StepContext } from './step.tsx'
import { healthKey } from './use-health.ts'

function describeStep() {
  return {
    purpose: t`Tells Meta where to send the statuses of messages.`,
    done: t`Meta sends the statuses of messages to this server.`,
  }
}

/** Sets the callback URL, or shows what to enter at Meta if this server cannot set it. */
export function CallbackStep({ whatsAppAccountId, ...step }: StepContext & { whatsAppAccountId: string }) {
  const { accountId, canChange } = useAccount()
  const setUp = useQuery({
    // Extends the health key, so that replacing secrets invalidates it.
    queryKey: [...healthKey(accountId), 'callback', whatsAppAccountId],
    queryFn: ({ signal }) => api.whatsAppAccount.callbackSetUp.query({ accountId, whatsAppAccountId }, { signal }),
    // The response contains the verify token, which viewers may not see.
    enabled: canChange,
  }).data
  const { state } = step
  // The callback URL of the app is not what the finding is about, and may belong to another system.
  if (state.findings.some(({ code }) => code === 'callback_overridden'))
    return <Step {...step} {...describeStep()} state={{ ...state, done: false }} />
  const obstacle = state.done ? undefined : setUp?.obstacle
  const lacksSecret = state.findings.some(({ code }) => code === 'app_secret_missing')
  if (!obstacle || !setUp)
    return (
      <ActionStep
        {...step}
        {...describeStep()}
        action={t`Set callback URL`}
        perform={() => api.whatsAppAccount.configureCallback.mutate({ accountId, whatsAppAccountId })}
      />
    )
  // Findings of an earlier attempt with other settings are outdated.
  const findings = state.findings.filter(({ code }) => code !== 'callback_problem' && code !== 'callback_missing')
  return (
    <Step {...step} {...describeStep()} state={{ ...state, findings }}>
      {lacksSecret ? (
        <ReplaceSecretsButton whatsAppAccountId={whatsAppAccountId}>{t`Add app secret`}</ReplaceSecretsButton>
      ) : (
        <Alert color="yellow" icon={<IconTool />}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {say(obstacle, 'message')}
          </Text>
          <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
            {say(obstacle, 'fix')}
          </Text>
        </Alert>
      )}
      <Text size="sm" mt="xs">
        {lacksSecret ? (
          <Trans>
            Then Waybill can set the URL. To enter it yourself, <MetaApps>open your app at Meta</MetaApps>, then
            WhatsApp → Configuration → Edit.
          </Trans>
        ) : (
          <Trans>
            Or enter the values yourself: <MetaApps>open your app at Meta</MetaApps>, then WhatsApp → Configuration →
            Edit.
          </Trans>
        )}
      </Text>
      <CallbackValues enter={setUp.enter} />
    </Step>
  )
}

function MetaApps({ children }: { children?: ReactNode }) {
  return (
    <Anchor href="https://developers.facebook.com/apps" target="_blank" rel="noreferrer" inherit underline="always">
      {children}
    </Anchor>
  )
}
