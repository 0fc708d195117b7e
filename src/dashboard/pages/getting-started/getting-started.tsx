import { t } from '@lingui/core/macro'
import { Group, Text, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { translate } from '../../language/i18n.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import styles from './getting-started.module.css'
import { findNextStep, type Step, steps, stepTexts, type Progress } from './steps.ts'
import { api } from '../../api/client.ts'
import { useApiAccess } from '../public-api/use-api-access.ts'
import { useEndpoints } from '../webhooks/use-endpoints.ts'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'

/** The setup steps of a new account, with a button for the next one. Beside messages, only the missing steps. */
export function GettingStarted({ hasMessages = false }: { hasMessages?: boolean }) {
  const { progress, error, retry } = useProgress()
  const next = progress && findNextStep(progress)
  if (hasMessages && next === undefined) return null
  const shown = hasMessages ? steps.filter((step) => progress?.[step] === false) : steps
  return (
    <Section
      title={hasMessages ? t`Next steps` : t`Getting started`}
      description={
        hasMessages
          ? progress?.connect && t`Only for applications that send over the API.`
          : t`Four steps to your first message and its delivery status.`
      }
    >
      {progress && (
        <ol className={styles['steps']}>
          {shown.map((step, index) => (
            <StepItem key={step} step={step} number={index + 1} isDone={progress[step]} isNext={step === next} />
          ))}
        </ol>
      )}
      {!progress && (error ? <ErrorAlert error={error} onRetry={retry} /> : <LoadingSkeleton lines={4} />)}
    </Section>
  )
}

interface StepItemProps {
  step: Step
  number: number
  isDone: boolean
  isNext: boolean
}

function StepItem({ step, number, isDone, isNext }: StepItemProps) {
  const { title, description } = stepTexts[step]
  return (
    <li className={styles['step']} data-done={isDone || undefined} aria-current={isNext ? 'step' : undefined}>
      <span className={styles['number']} aria-hidden>
        {isDone ? <IconCheck size={14} stroke={2.5} /> : number}
      </span>
      <div>
        <Text size="sm" fw={600}>
          {translate(title)}
          {isDone && <VisuallyHidden>{t`, done`}</VisuallyHidden>}
        </Text>
        <Text size="sm" c="dimmed">
          {translate(description)}
        </Text>
      </div>
      {isNext && (
        <Group gap="sm" className={styles['action'] ?? ''}>
          <StepButton step={step} />
        </Group>
      )}
    </li>
  )
}

function StepButton({ step }: { step: Step }) {
  const { accountId } = useAccount()
  const { action, path } = stepTexts[step]
  return <LinkButton to={`/${accountId}/${path}`}>{translate(action)}</LinkButton>
}

/** The button of the next missing step, for pages that are empty until messages are sent. */
export function NextStepButton() {
  const { progress } = useProgress()
  const next = progress && findNextStep({ ...progress, webhook: true })
  return next && <StepButton step={next} />
}

/** Which steps the account has completed; undefined until all queries are loaded, or if one failed. */
function useProgress(): { progress?: Progress; error: unknown; retry: () => unknown } {
  const { accountId } = useAccount()
  const { sandbox } = useUser()
  const whatsAppAccounts = useWhatsAppAccounts()
  const access = useApiAccess()
  const endpoints = useEndpoints(accountId)
  const newest = useQuery({
    queryKey: ['messages', accountId, 'newest'],
    queryFn: async ({ signal }) => (await api.message.list.query({ accountId, limit: 2 }, { signal })).items,
  })
  const queries = [whatsAppAccounts, access, endpoints, newest]
  const outcome = {
    error: queries.find(({ error }) => error)?.error,
    retry: () => Promise.all(queries.map((query) => query.refetch())),
  }
  if (!whatsAppAccounts.data || !access.data || !endpoints.data || !newest.data) return outcome
  const progress = {
    connect: whatsAppAccounts.data.length > 0,
    key: access.data.key !== undefined,
    // The sandbox sends one message of its own, which is nobody's first.
    send: newest.data.length > (sandbox && access.data.key?.lastUsedAt === undefined ? 1 : 0),
    webhook: endpoints.data.items.length > 0,
  }
  return { progress, ...outcome }
}
