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
import { useAccount, useUser } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { useSync, useTemplates } from '../templates/use-templates.ts'
import { isShownInStep, type StepName, type StepState, toChecklist } from './checklist.ts'
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

/** In the order in which a number is set up. */
const names: readonly StepName[] = ['token', 'subscription', 'callback', 'registration', 'templates', 'test', 'status']

function Steps({ health }: { health: WhatsAppAccountHealth }) {
  const { accountId } = useAccount()
  const { sandbox } = useUser()
  const whatsAppAccountId = health.accountId
  const templates = useTemplates(whatsAppAccountId)
  const [test, setTest] = useState<SentTest>()
  const approved = templates.data?.items.filter(({ status }) => status === 'APPROVED').length ?? 0
  const steps = toChecklist(health, approved, test !== undefined && test.status !== 'failed')
  const done = Object.values(steps).filter((step) => step.done).length
  const next = names.find((name) => !steps[name].done)
  const place = (name: StepName) => ({ state: steps[name], number: names.indexOf(name) + 1, isNext: name === next })
  return (
    <Stack gap="sm" mb="lg">
      <Text size="sm" c="dimmed" role="status">
        {done} of {names.length} steps done{next === undefined && ': this number is ready to send.'}
      </Text>
      <Step
        {...place('token')}
        title="Access token"
        purpose="The secret with which Waybill sends from this number."
        done="WhatsApp accepts the token for this number."
      >
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
        {...place('subscription')}
        title="Subscription"
        purpose="Lets your app hear whether messages were delivered and read."
        done="Your app hears whether messages were delivered and read."
        action="Subscribe"
        perform={() => settings.whatsAppAccount.subscribe.mutate({ accountId, whatsAppAccountId })}
      />
      <ActionStep
        {...place('callback')}
        title="Callback URL"
        purpose="Tells Meta where to send the statuses of messages."
        done="Meta sends the statuses of messages to this server."
        action="Set callback URL"
        perform={() => settings.whatsAppAccount.configureCallback.mutate({ accountId, whatsAppAccountId })}
      />
      <Step
        {...place('registration')}
        title="Registration"
        purpose="Allows the number to send by program, through Meta's Cloud API."
        done="The number is registered with Meta's Cloud API."
      >
        <RegisterForm whatsAppAccountId={whatsAppAccountId} status={health.number.status} />
      </Step>
      <Step {...place('templates')} title="Templates" purpose="WhatsApp sends approved templates only.">
        <SyncTemplates approved={approved} syncedAt={templates.data?.syncedAt} isNext={next === 'templates'} />
      </Step>
      <Step
        {...place('test')}
        title="Test message"
        purpose={
          sandbox
            ? 'A simulated message: it reaches no phone and costs nothing.'
            : 'A real message to your own phone. WhatsApp may charge for it.'
        }
      >
        <TestStep
          whatsAppAccountId={whatsAppAccountId}
          templates={templates.data?.items ?? []}
          test={test}
          onSent={setTest}
          isNext={next === 'test'}
        />
      </Step>
      <Step
        {...place('status')}
        title="First status"
        purpose="Shows that WhatsApp reaches this server."
        done="WhatsApp reaches this server with the statuses of messages."
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
  number: number
  /** Whether it is the first that is not done. */
  isNext: boolean
  /** What it is for, and what is true once it is done; by default the same. */
  purpose: string
  done?: string
  children?: ReactNode
}

function Step({ title, state, number, purpose, done = purpose, children }: StepProps) {
  const isStuck = !state.done && state.findings.some(({ severity }) => severity === 'error')
  return (
    <Paper component="section" aria-label={`${title}: ${state.done ? 'done' : 'to do'}`} withBorder p="md">
      <Group align="flex-start" gap="md" wrap="nowrap">
        <ThemeIcon
          variant={state.done ? 'filled' : isStuck ? 'light' : 'default'}
          color={state.done ? 'waybill' : isStuck ? 'red' : 'gray'}
          radius="xl"
          size={28}
          aria-hidden
        >
          {state.done ? (
            <IconCheck size={16} />
          ) : isStuck ? (
            <IconAlertCircle size={16} />
          ) : (
            <Text size="xs" fw={600}>
              {number}
            </Text>
          )}
        </ThemeIcon>
        <Stack gap="xs" flex={1} miw={0}>
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text size="sm">{state.done ? done : purpose}</Text>
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
      {/* The fix of that one is the button below it. */}
      {finding.code !== 'not_subscribed' && (
        <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
          {finding.fix}
        </Text>
      )}
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
          variant={step.isNext ? 'filled' : 'default'}
          loading={run.isPending}
          onClick={() => run.mutate()}
        >
          {step.state.done ? `${action} again` : action}
        </ChangeButton>
      </Group>
    </Step>
  )
}

interface SyncTemplatesProps {
  approved: number
  syncedAt: string | undefined
  isNext: boolean
}

function SyncTemplates({ approved, syncedAt, isNext }: SyncTemplatesProps) {
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
          variant={isNext ? 'filled' : 'default'}
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
