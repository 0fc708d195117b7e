import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Group, Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { say } from '../../language/facts.ts'
import type { SendMessageRequest } from '../../../../contracts/api/message.ts'
import { listTrials, type OwnTemplate, type SentTest } from '../../../../contracts/dashboard/template.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton, TextLink } from '../../ui/button.tsx'
import { CostEstimateText } from '../../ui/cost-estimate.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { Form, SendErrorAlert } from '../../ui/form.tsx'
import { findNumberProblem } from '../../ui/number-problem.ts'
import { suggestNumber, withoutPunctuation } from '../../ui/phone-number.ts'
import { MessageStatusBadge } from '../messages/message-status.tsx'
import type { MessageHistory } from '../messages/message/use-message.ts'
import { healthKey } from './use-health.ts'
import { useWhatsAppAccounts } from './use-whatsapp-accounts.ts'

interface TestStepProps {
  whatsAppAccountId: string
  templates: OwnTemplate[]
  /** The last test on this page. */
  test: SentTest | undefined
  onSent: (test: SentTest) => void
  isNext: boolean
}

function nameOf({ template, language }: Pick<SendMessageRequest, 'template' | 'language'>): string {
  return `${template} (${language})`
}

/** Sends a template with its example values, and follows its status. */
export function TestStep({ whatsAppAccountId, templates, test, onSent, isNext }: TestStepProps) {
  const { accountId, canChange } = useAccount()
  const [typed, setTyped] = useState('')
  const [chosenName, setChosenName] = useState<string>()
  const choices = listTrials(templates)
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { to: '' },
    onValuesChange: ({ to }) => setTyped(to),
    validate: { to: (to) => findNumberProblem(to) ?? null },
  })
  const send = useFormChange(form, {
    change: api.template.sendTest.mutate,
    invalidates: [healthKey(accountId)],
    onDone: onSent,
  })
  const chosen = choices.find((choice) => nameOf(choice) === chosenName) ?? choices[0]
  if (!chosen)
    return (
      <Text size="sm" c="dimmed">
        <Trans>Sync the templates first. The test needs an approved template without images, videos or files.</Trans>
      </Text>
    )
  const category = templates.find(
    ({ name, language }) => name === chosen.template && language === chosen.language,
  )?.category
  const submit = form.onSubmit(({ to }) =>
    send.submit({ ...chosen, accountId, whatsAppAccountId, to: withoutPunctuation(to) }),
  )
  return (
    <Form onSubmit={submit} gap="sm">
      <SendErrorAlert title={t`Test message failed`} problem={send.problem} error={send.error} />
      {test && <TestResult test={test} />}
      <Group gap="sm" align="flex-start">
        <TextInput
          label={t`Your phone number`}
          description={t`With the country code, such as +34600111222.`}
          type="tel"
          autoComplete="tel"
          disabled={!canChange}
          key={form.key('to')}
          {...form.getInputProps('to')}
        />
        <Select
          label={t`Template`}
          description={t`Variables are filled with the template’s examples.`}
          data={choices.map(nameOf)}
          value={nameOf(chosen)}
          allowDeselect={false}
          onChange={(value) => setChosenName(value ?? undefined)}
        />
      </Group>
      <NumberSuggestion typed={typed} onAccept={(number) => form.setFieldValue('to', number)} />
      <CostEstimateText to={withoutPunctuation(typed)} category={category} />
      <Group>
        <ChangeButton type="submit" size="xs" variant={isNext ? 'filled' : 'default'} loading={send.isPending}>
          {test ? t`Send another test` : t`Send test`}
        </ChangeButton>
      </Group>
    </Form>
  )
}

/** The status of a test, and why it failed, at once or later. */
function TestResult({ test }: { test: SentTest }) {
  const history = useTestMessage(test.messageId)
  const failure = history?.failure ?? test.failure
  const isFailed = (history?.message.status ?? test.status) === 'failed'
  return (
    <>
      {isFailed && failure && (
        <ErrorAlert title={t`Test message failed`} error={`${say(failure, 'meaning')} ${say(failure, 'advice')}`} />
      )}
      <SentMessage messageId={test.messageId} />
    </>
  )
}

const refetchMilliseconds = 1_000

/** A test message with its status, which is updated until it is final. */
export function useTestMessage(messageId: string): MessageHistory | undefined {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['message', accountId, messageId, 'test'],
    queryFn: () => api.message.get.query({ accountId, messageId }),
    refetchInterval: ({ state }) => (isSettled(state.data?.message.status) ? false : refetchMilliseconds),
  })
  const queryClient = useQueryClient()
  const status = data?.message.status
  // A status of the test message also completes the next step of the setup.
  useEffect(() => {
    if (status !== undefined) void queryClient.invalidateQueries({ queryKey: healthKey(accountId) })
  }, [queryClient, accountId, status])
  return data
}

/** The status of a test message. */
export function SentMessage({ messageId }: { messageId: string }) {
  const { accountId } = useAccount()
  const status = useTestMessage(messageId)?.message.status
  return (
    <Group gap="xs" role="status">
      {status !== undefined && (
        <>
          <Text size="sm">{t`Status of the test message:`}</Text>
          <MessageStatusBadge status={status} />
        </>
      )}
      <TextLink to={`/${accountId}/messages/${messageId}`} size="sm">{t`View message`}</TextLink>
    </Group>
  )
}

function isSettled(status: string | undefined): boolean {
  return status === 'read' || status === 'failed'
}

/** Offers the country code of the default number, if a number was typed without one. */
export function NumberSuggestion({ typed, onAccept }: { typed: string; onAccept: (number: string) => void }) {
  const { data = [] } = useWhatsAppAccounts()
  const own = data.find(({ isDefault }) => isDefault) ?? data[0]
  const suggested = suggestNumber(typed, own?.displayPhoneNumber)
  if (suggested === undefined) return null
  return (
    <Text size="sm" role="status">
      <Trans>
        Did you mean{' '}
        <Anchor component="button" type="button" inherit onClick={() => onAccept(suggested)}>
          {suggested}
        </Anchor>
        ?
      </Trans>
    </Text>
  )
}
