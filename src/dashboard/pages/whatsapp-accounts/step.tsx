import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import type { HealthFinding } from '../../../../contracts/api/account.ts'
import type { CallbackStep } from '../../../../contracts/dashboard/connect.ts'
import type { Fact } from '../../../../contracts/facts/fact.ts'
import { useChange } from '../../api/use-change.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { type Change, ChangeButton } from '../../ui/button.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import type { StepName, StepState } from './checklist.ts'
import { describeFinding } from './describe.ts'
import { StepResult } from './step-result.tsx'
import { healthKey } from './use-health.ts'

/** The part of a step's props that comes from the checklist. */
export interface StepContext {
  name: StepName
  title: string
  state: StepState
  number: number
  /** Whether it is the first incomplete step. */
  isNext: boolean
}

interface StepProps extends StepContext {
  /** What the step is for. `done` replaces it once the step is complete. */
  purpose: string
  done?: string
  /** What WhatsApp reported, after the purpose. */
  note?: ReactNode
  /** Beside the text once the step is complete; until then below it, where the remedies of findings expect it. */
  action?: ReactNode
  children?: ReactNode
}

export function Step({ name, title, state, number, purpose, done = purpose, note, action, children }: StepProps) {
  const isSettled = state.done && state.findings.length === 0
  const isStuck = !state.done && state.findings.some(({ severity }) => severity === 'error')
  return (
    <Paper
      component="section"
      id={name}
      tabIndex={-1}
      aria-label={state.done ? t`${title}: done` : t`${title}: to do`}
      withBorder
      p="md"
    >
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
        <Group gap="sm" flex={1} miw={0}>
          <Stack gap="xs" flex={1} miw={200}>
            <div>
              <Title order={2}>{title}</Title>
              <Text size="sm" component="div" mt={2}>
                {state.done ? done : purpose}{' '}
                <Text span inherit c="dimmed">
                  {note}
                </Text>
              </Text>
            </div>
            {state.findings.map((finding) => (
              <FindingText key={finding.code} finding={finding} />
            ))}
            {children}
            {!isSettled && action}
          </Stack>
          {isSettled && action}
        </Group>
      </Group>
    </Paper>
  )
}

/** A finding with its start time and fix. */
export function FindingText({ finding, children }: { finding: HealthFinding; children?: ReactNode }) {
  const isError = finding.severity === 'error'
  return (
    <Alert color={isError ? 'red' : 'yellow'} icon={isError ? <IconAlertCircle /> : <IconAlertTriangle />}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {describeFinding(finding).message}
        {finding.since !== undefined && (
          <>
            {' '}
            <Trans>
              Since <LogTime at={finding.since} />.
            </Trans>
          </>
        )}
      </Text>
      <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
        {findRemedy(finding)}
      </Text>
      {children}
    </Alert>
  )
}

/** Whether one fact is the other, or has it as a part. */
function contains(fact: Fact, part: Fact): boolean {
  if (fact.code === part.code && JSON.stringify(fact.params) === JSON.stringify(part.params)) return true
  return Object.values(fact.params ?? {}).some(
    (param) => typeof param === 'object' && 'code' in param && contains(param, part),
  )
}

/** The action of a step. */
export function StepButton({ isNext, change, children }: { isNext: boolean; change: Change; children: ReactNode }) {
  return (
    <Group>
      <ChangeButton size="xs" variant={isNext ? 'filled' : 'default'} change={change}>
        {children}
      </ChangeButton>
    </Group>
  )
}

interface ActionStepProps extends Omit<StepProps, 'action'> {
  action: string
  perform: () => Promise<CallbackStep>
}

/** A step that consists of one request to WhatsApp. */
export function ActionStep({ action, perform, ...step }: ActionStepProps) {
  const { accountId } = useAccount()
  const [result, setResult] = useState<CallbackStep>()
  const run = useChange<void, CallbackStep>({
    change: perform,
    invalidates: [healthKey(accountId)],
    onDone: setResult,
    // The error is shown below the button.
    onFailure: () => setResult(undefined),
  })
  // Show a problem only once, as the result, which also has the values to enter.
  const shown = result?.ok === false ? result.facts?.message : undefined
  const findings = step.state.findings.filter(
    ({ facts }) => !shown || !facts?.message || !contains(facts.message, shown),
  )
  return (
    <Step
      {...step}
      state={{ ...step.state, findings }}
      action={
        <StepButton isNext={step.isNext} change={run}>
          {step.state.done ? t`${action} again` : action}
        </StepButton>
      }
    >
      {result && <StepResult result={result} />}
      {run.isError && <ErrorAlert title={t`${step.title} not changed`} error={run.error} />}
    </Step>
  )
}

const replaceToken = msg`Create a new token at Meta, then select Replace token below.`
const register = msg`Enter the two-step verification PIN of the number below, and select Register number.`
const setCallback = msg`Set the callback URL below.`

/** Fixes of findings whose button or form is below on the same page. */
const remediesOnPage: Partial<Record<string, MessageDescriptor>> = {
  rejected: msg`Create a new token at Meta, then select Replace token below. If you have removed the cause at Meta, and the token is still the right one, select Activate.`,
  token_expired: replaceToken,
  token_invalid: replaceToken,
  token_expiring: replaceToken,
  permission_missing: msg`Create a new token at Meta, then select Replace token below. It needs the permissions whatsapp_business_messaging and whatsapp_business_management.`,
  app_secret_missing: msg`Copy the app secret from the app dashboard of Meta (App settings → Basic), then select Add app secret below.`,
  not_subscribed: msg`If that took a new token, select Replace token first. Then select Subscribe below.`,
  callback_problem: msg`Remove the cause, then set the callback URL below again.`,
  callback_missing: setCallback,
  callback_elsewhere: setCallback,
  field_messages_missing: setCallback,
  fields_missing: setCallback,
  number_pending: register,
  number_unverified: register,
  number_disconnected: register,
  no_statuses: msg`Repeat steps 2 and 3 above, and check that the proxy in front of this server passes /webhooks/whatsapp on to it.`,
  deactivated: msg`Select Activate below to send from it again.`,
}

/** The fix of a finding on the setup page, which must not refer to the setup page. */
function findRemedy(finding: HealthFinding): string {
  const remedy = remediesOnPage[finding.code]
  return remedy ? translate(remedy) : describeFinding(finding).fix
}
