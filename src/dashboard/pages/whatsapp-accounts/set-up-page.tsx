import { Alert, Anchor, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCheck, IconRefresh } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link, useParams } from 'react-router'
import type { HealthFinding, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { CallbackStep } from '../../../../contracts/dashboard/connect.ts'
import type { SentTest } from '../../../../contracts/dashboard/template.ts'
import { NotFoundPage } from '../../layout/fallback-pages.tsx'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { useSync, useTemplates } from '../templates/use-templates.ts'
import { isShownInStep, type StepState, toChecklist } from './checklist.ts'
import { RegisterForm } from './register-form.tsx'
import { StepResult } from './step-result.tsx'
import { TestStep } from './test-step.tsx'
import { healthKey, useHealth } from './use-health.ts'

/** The set-up of a connected number as a checklist, and its health afterwards. */
export function SetUpPage() {
  const { accountId } = useAccount()
  const { whatsAppAccountId } = useParams()
  const health = useHealth(accountId)
  const account = health.data?.whatsAppAccounts.find((candidate) => candidate.accountId === whatsAppAccountId)
  if (health.isPending) return <LoadingSkeleton lines={8} />
  if (health.isError && !health.data) return <ErrorAlert error={health.error} onRetry={() => void health.refetch()} />
  if (!account) return <NotFoundPage />
  return (
    <>
      <PageHeader
        title={account.displayPhoneNumber ?? account.phoneNumberId}
        description="Set-up and health of this WhatsApp account. Each step can be repeated."
        actions={<CheckNowButton whatsAppAccountId={account.accountId} />}
      />
      <Steps key={account.accountId} health={account} />
      <OtherFindings health={account} />
      <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} size="sm">
        All WhatsApp accounts
      </Anchor>
    </>
  )
}

function CheckNowButton({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const { accountId } = useAccount()
  const check = useChange({
    change: () => settings.whatsAppAccount.check.mutate({ accountId, whatsAppAccountId }),
    invalidates: [healthKey(accountId)],
    done: 'Checked with WhatsApp.',
  })
  return (
    <ChangeButton
      variant="default"
      leftSection={<IconRefresh size={16} />}
      loading={check.isPending}
      onClick={() => check.mutate()}
    >
      Check now
    </ChangeButton>
  )
}

function Steps({ health }: { health: WhatsAppAccountHealth }) {
  const { accountId } = useAccount()
  const whatsAppAccountId = health.accountId
  const templates = useTemplates(whatsAppAccountId)
  const [test, setTest] = useState<SentTest>()
  const approved = templates.data?.items.filter(({ status }) => status === 'APPROVED').length ?? 0
  const steps = toChecklist(health, approved, test !== undefined && test.status !== 'failed')
  const done = Object.values(steps).filter((step) => step.done).length
  return (
    <Stack gap="sm" mb="lg">
      <Text size="sm" c="dimmed" role="status">
        {done} of {Object.keys(steps).length} steps done
      </Text>
      <Step title="Access token" state={steps.token} about="WhatsApp accepts the token for this number.">
        <Text size="sm" c="dimmed">
          {health.token.expiresAt === undefined ? (
            health.token.valid === true ? (
              'It does not expire.'
            ) : (
              'WhatsApp has not said yet when it expires.'
            )
          ) : (
            <>
              It expires <DateTime at={health.token.expiresAt} />.
            </>
          )}
          {!steps.token.done && (
            <>
              {' '}
              <Anchor component={Link} to={`/${accountId}/whatsapp-accounts`} inherit underline="always">
                Replace the token
              </Anchor>
            </>
          )}
        </Text>
      </Step>
      <ActionStep
        title="Subscription"
        state={steps.subscription}
        about="The app is subscribed to the WhatsApp Business Account. Without it, WhatsApp reports no statuses."
        action="Subscribe"
        perform={() => settings.whatsAppAccount.subscribe.mutate({ accountId, whatsAppAccountId })}
      />
      <ActionStep
        title="Callback URL"
        state={steps.callback}
        about="Meta sends statuses to this server."
        action="Set callback URL"
        perform={() => settings.whatsAppAccount.configureCallback.mutate({ accountId, whatsAppAccountId })}
      />
      <Step title="Registration" state={steps.registration} about="The number is registered with the Cloud API.">
        <RegisterForm whatsAppAccountId={whatsAppAccountId} status={health.number.status} />
      </Step>
      <Step title="Templates" state={steps.templates} about="WhatsApp sends approved templates only.">
        <SyncTemplates approved={approved} syncedAt={templates.data?.syncedAt} />
      </Step>
      <Step title="Test message" state={steps.test} about="A real message to your own phone.">
        <TestStep
          whatsAppAccountId={whatsAppAccountId}
          templates={templates.data?.items ?? []}
          test={test}
          onSent={setTest}
        />
      </Step>
      <Step
        title="First status"
        state={steps.status}
        about="WhatsApp reaches this server with the status of a message."
      >
        {health.callbacks.lastStatusAt === undefined ? (
          <Text size="sm" c="dimmed">
            Waiting for a status. It usually arrives within seconds of the test message.
          </Text>
        ) : (
          <Text size="sm" c="dimmed">
            The last one arrived <DateTime at={health.callbacks.lastStatusAt} />.
          </Text>
        )}
      </Step>
    </Stack>
  )
}

interface StepProps {
  title: string
  state: StepState
  about: string
  children?: ReactNode
}

function Step({ title, state, about, children }: StepProps) {
  return (
    <Paper component="section" aria-label={`${title}: ${state.done ? 'done' : 'to do'}`} withBorder p="md">
      <Group align="flex-start" gap="md" wrap="nowrap">
        <ThemeIcon
          variant={state.done ? 'filled' : 'default'}
          color={state.done ? 'waybill' : 'gray'}
          radius="xl"
          size={28}
          aria-hidden
        >
          {state.done ? <IconCheck size={16} /> : state.findings.length > 0 ? <IconAlertCircle size={16} /> : null}
        </ThemeIcon>
        <Stack gap="xs" flex={1} miw={0}>
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text size="sm">{about}</Text>
          {state.findings.map((finding) => (
            <FindingText key={finding.code} finding={finding} />
          ))}
          {children}
        </Stack>
      </Group>
    </Paper>
  )
}

function FindingText({ finding }: { finding: HealthFinding }) {
  const isError = finding.severity === 'error'
  return (
    <Alert color={isError ? 'red' : 'yellow'} icon={isError ? <IconAlertCircle /> : <IconAlertTriangle />}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {finding.message}
      </Text>
      <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
        {finding.fix}
      </Text>
    </Alert>
  )
}

interface ActionStepProps extends StepProps {
  action: string
  perform: () => Promise<CallbackStep>
}

function ActionStep({ action, perform, ...step }: ActionStepProps) {
  const { accountId } = useAccount()
  const [result, setResult] = useState<CallbackStep>()
  const run = useChange<void, CallbackStep>({
    change: perform,
    invalidates: [healthKey(accountId)],
    onDone: setResult,
  })
  return (
    <Step {...step}>
      {result && <StepResult result={result} />}
      <Group>
        <ChangeButton
          size="xs"
          variant={step.state.done ? 'default' : 'filled'}
          loading={run.isPending}
          onClick={() => run.mutate()}
        >
          {step.state.done ? `${action} again` : action}
        </ChangeButton>
      </Group>
    </Step>
  )
}

function SyncTemplates({ approved, syncedAt }: { approved: number; syncedAt: string | undefined }) {
  const sync = useSync({ onFailure: () => {} })
  return (
    <>
      {sync.isError && <ErrorAlert title="Templates not synced" error={sync.error} />}
      <Group>
        <Text size="sm" c="dimmed">
          {syncedAt === undefined ? 'Not read yet.' : `${approved} approved.`}
        </Text>
        <ChangeButton
          size="xs"
          variant={approved > 0 ? 'default' : 'filled'}
          loading={sync.isPending}
          onClick={() => sync.mutate()}
        >
          {syncedAt === undefined ? 'Sync templates' : 'Sync again'}
        </ChangeButton>
      </Group>
    </>
  )
}

/** Findings that concern no step, such as quality or payment. */
function OtherFindings({ health }: { health: WhatsAppAccountHealth }) {
  const others = health.findings.filter(({ code }) => !isShownInStep(code))
  if (others.length === 0) return null
  return (
    <Stack gap="sm" mb="lg">
      <Title order={2} size="h4">
        Health
      </Title>
      {others.map((finding) => (
        <FindingText key={finding.code} finding={finding} />
      ))}
    </Stack>
  )
}
