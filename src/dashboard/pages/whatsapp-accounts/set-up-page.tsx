import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { useParams } from 'react-router'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { SentTest } from '../../../../contracts/dashboard/template.ts'
import { translate } from '../../language/i18n.ts'
import { NotFoundPage } from '../../layout/fallback-pages.tsx'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { BackLink, PageHeader, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { useSync, useTemplates } from '../templates/use-templates.ts'
import { CallbackStep } from './callback-step.tsx'
import { type StepName, stepNames, stepOf, stepTitles, toChecklist, toSetUpState } from './checklist.ts'
import { SetUpBadge } from './notice.tsx'
import { RegisterForm } from './register-form.tsx'
import { ActivateAccount, ReplaceSecretsButton } from './replace-secrets.tsx'
import { ActionStep, FindingText, Step, StepButton, type StepContext } from './step.tsx'
import { TestStep } from './test-step.tsx'
import { healthKey, useHealth } from './use-health.ts'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'
import { ViewerNotice } from './viewer-notice.tsx'
import { nameNumber } from '../../ui/phone-number.ts'

/** The setup checklist of a connected number, and its health. */
export function SetUpPage() {
  const { accountId } = useAccount()
  const { whatsAppAccountId } = useParams()
  const health = useHealth(accountId)
  const account = health.data?.whatsAppAccounts.find((candidate) => candidate.accountId === whatsAppAccountId)
  useHashTarget(account !== undefined)
  if (health.isPending) return <CardsSkeleton cards={5} />
  if (health.isError && !health.data) return <ErrorAlert error={health.error} onRetry={() => void health.refetch()} />
  if (!account) return <NotFoundPage />
  return (
    <>
      <BackLink to={`/${accountId}/whatsapp-accounts`}>{t`WhatsApp accounts`}</BackLink>
      <PageHeader
        title={nameNumber(account)}
        badge={<SetUpBadge state={toSetUpState(account)} />}
        description={t`Setup and health of this WhatsApp account. Each step can be repeated.`}
        actions={<CheckNowButton whatsAppAccountId={account.accountId} />}
      />
      <ViewerNotice what={t`set up a number`} />
      <Steps key={account.accountId} health={account} />
      <OtherFindings health={account} />
    </>
  )
}

function CheckNowButton({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const { accountId } = useAccount()
  const check = useChange({
    change: () => api.whatsAppAccount.check.mutate({ accountId, whatsAppAccountId }),
    invalidates: [healthKey(accountId), whatsAppAccountsKey(accountId)],
    done: t`Checked with WhatsApp.`,
  })
  return <ChangeButton variant="default" icon={IconRefresh} change={check}>{t`Check now`}</ChangeButton>
}

function Steps({ health }: { health: WhatsAppAccountHealth }) {
  const { accountId } = useAccount()
  const { sandbox } = useUser()
  const whatsAppAccountId = health.accountId
  const templates = useTemplates(whatsAppAccountId)
  const [test, setTest] = useState<SentTest>()
  const approved = templates.data?.items.filter(({ status }) => status === 'APPROVED').length ?? 0
  const steps = toChecklist(health, approved, test !== undefined && test.status !== 'failed')
  const done = Object.values(steps).filter((step) => step.done).length
  const next = stepNames.find((name) => !steps[name].done)
  const stepProps = (name: StepName) => ({
    name,
    title: translate(stepTitles[name]),
    state: steps[name],
    number: stepNames.indexOf(name) + 1,
    isNext: name === next,
  })
  return (
    <Stack gap="sm" mb="lg">
      <Text size="sm" c="dimmed" role="status">
        {next === undefined
          ? t`${done} of ${stepNames.length} steps done`
          : t`${done} of ${stepNames.length} steps done. Next: ${translate(stepTitles[next])}`}
      </Text>
      <Step
        {...stepProps('token')}
        purpose={t`The secret with which Waybill sends from this number.`}
        done={t`WhatsApp accepts the token for this number.`}
        note={<TokenExpiry health={health} />}
        action={
          <ReplaceSecretsButton
            whatsAppAccountId={whatsAppAccountId}
            isUrgent={!steps.token.done}
            isRejected={steps.token.findings.some(({ code }) => code === 'rejected' || code === 'disabled')}
          >
            <Trans>Replace token</Trans>
          </ReplaceSecretsButton>
        }
      />
      <ActionStep
        {...stepProps('subscription')}
        purpose={t`Subscribes your Meta app to the statuses of messages.`}
        done={t`Your Meta app is subscribed to the statuses of messages.`}
        action={t`Subscribe`}
        perform={() => api.whatsAppAccount.subscribe.mutate({ accountId, whatsAppAccountId })}
      />
      <CallbackStep {...stepProps('callback')} whatsAppAccountId={whatsAppAccountId} />
      <Step
        {...stepProps('registration')}
        purpose={t`Registers the number with Meta’s Cloud API, so that it can send messages.`}
        done={
          health.number.onBusinessApp === true
            ? t`The number is registered in the WhatsApp Business app.`
            : t`The number is registered with Meta’s Cloud API.`
        }
      >
        <RegisterForm whatsAppAccountId={whatsAppAccountId} number={health.number} isNext={next === 'registration'} />
      </Step>
      <TemplatesStep {...stepProps('templates')} approved={approved} templates={templates} />
      <Step
        {...stepProps('test')}
        purpose={
          sandbox
            ? t`A simulated message: it reaches no phone and costs nothing.`
            : t`A real message to your own phone. WhatsApp may charge for it.`
        }
      >
        {steps.registration.done || health.number.status === undefined ? (
          templates.data && (
            <TestStep
              whatsAppAccountId={whatsAppAccountId}
              templates={templates.data.items}
              test={test}
              onSent={setTest}
              isNext={next === 'test'}
            />
          )
        ) : (
          <Text size="sm" c="dimmed">{t`Register the number first.`}</Text>
        )}
      </Step>
      <Step
        {...stepProps('status')}
        purpose={t`Shows that WhatsApp reaches this server.`}
        done={t`WhatsApp reaches this server with the statuses of messages.`}
        note={
          health.callbacks.lastStatusAt === undefined ? (
            t`Waiting for a status. It usually arrives within seconds of the test message.`
          ) : (
            <Trans>
              The last one arrived <DateTime at={health.callbacks.lastStatusAt} />.
            </Trans>
          )
        }
      />
    </Stack>
  )
}

function TokenExpiry({ health: { token } }: { health: WhatsAppAccountHealth }) {
  if (token.expiresAt === undefined)
    return token.valid === true ? t`WhatsApp reports no expiry date.` : t`WhatsApp has not said yet when it expires.`
  return new Date(token.expiresAt) < new Date() ? (
    <Trans>
      It expired <DateTime at={token.expiresAt} />.
    </Trans>
  ) : (
    <Trans>
      It expires <DateTime at={token.expiresAt} />.
    </Trans>
  )
}

interface TemplatesStepProps extends StepContext {
  approved: number
  templates: ReturnType<typeof useTemplates>
}

function TemplatesStep({ approved, templates: { data, error, refetch }, ...step }: TemplatesStepProps) {
  const sync = useSync({ onFailure: () => {} })
  return (
    <Step
      {...step}
      purpose={t`Only templates that Meta has approved can start a conversation.`}
      note={data && (data.syncedAt === undefined ? t`Not read yet.` : t`${approved} approved.`)}
      action={
        <StepButton isNext={step.isNext} change={sync}>
          {data?.syncedAt === undefined ? t`Sync templates` : t`Sync again`}
        </StepButton>
      }
    >
      {error && !data && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {sync.isError && <ErrorAlert title={t`Templates not synced`} error={sync.error} />}
    </Step>
  )
}

/** Findings that belong to no step, such as quality or payment. */
function OtherFindings({ health }: { health: WhatsAppAccountHealth }) {
  const others = health.findings.filter(({ code }) => stepOf(code) === undefined)
  if (others.length === 0) return null
  return (
    <Stack gap="sm" mb="lg" id="health" tabIndex={-1} component="section" aria-labelledby="health-title">
      <Title order={2} id="health-title">{t`Health`}</Title>
      {others.map((finding) => (
        <FindingText key={finding.code} finding={finding}>
          {finding.code === 'deactivated' && (
            <Box mt="sm">
              <ActivateAccount whatsAppAccountId={health.accountId} />
            </Box>
          )}
        </FindingText>
      ))}
    </Stack>
  )
}
