import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconInfoCircle, IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { erasedRecipient } from '../../../../../contracts/fields.ts'
import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { readFailure } from '../../../api/failure.ts'
import { api } from '../../../api/client.ts'
import { notifyFailureMessage, notifySuccess, useChange } from '../../../api/use-change.ts'
import { useAccount, useUser } from '../../../session/session.ts'
import { CostEstimateText } from '../../../ui/cost-estimate.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { Form, FormActions, SendErrorAlert } from '../../../ui/form.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../../ui/placeholders.tsx'
import { showRecipient } from '../../../ui/phone-number.ts'
import { MessagePreview } from '../../templates/message-preview.tsx'
import {
  listValueFields,
  placeProblems,
  type TemplateValues,
  toRequestValues,
} from '../../templates/template-values.ts'
import { SentBubble } from './sent-preview.tsx'
import { repeatValues, takesCode } from './template-values.ts'
import { DuplicateWarning } from './message-alerts.tsx'
import { type FoundTemplate, type StoredContent, useContent } from './use-message.ts'

interface SendAgainModalProps {
  message: Message
  found: FoundTemplate
  onClose: () => void
  /** Called with the ID of the new message, whatever its outcome. */
  onSent: (messageId: string) => void
}

/** Asks for confirmation, and for values that were not stored. */
export function SendAgainModal({ message, found, onClose, onSent }: SendAgainModalProps) {
  const obstacle = findObstacle(message, found)
  const { data: content, isLoading } = useContent(message)
  return (
    // A click outside would discard the typed values.
    <Modal opened onClose={onClose} title={t`Send this message again?`} size="lg" closeOnClickOutside={false}>
      {(found.kind === 'loading' || isLoading) && <LoadingSkeleton lines={3} />}
      {found.kind === 'failed' && obstacle === undefined && <ErrorAlert error={found.error} onRetry={found.retry} />}
      {obstacle !== undefined && (
        <Stack>
          <Alert color="gray" icon={<IconInfoCircle />} title={t`This message cannot be sent again`}>
            {obstacle}
          </Alert>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t`Close`}</Button>
          </Group>
        </Stack>
      )}
      {found.kind === 'found' && !isLoading && obstacle === undefined && (
        <SendAgainForm
          message={message}
          template={found.template}
          content={content?.state === 'stored' ? content : undefined}
          onClose={onClose}
          onSent={onSent}
        />
      )}
    </Modal>
  )
}

/** Why the message cannot be sent again; undefined if it can. */
function findObstacle({ to, template, language }: Message, found: FoundTemplate): string | undefined {
  if (to === erasedRecipient) return t`Its recipient was erased.`
  if (found.kind === 'loading' || found.kind === 'failed') return undefined
  if (found.kind === 'missing') return t`The template ${template} (${language}) is no longer available.`
  if (takesCode(found.template)) return t`One-time codes are never stored. Send a new code instead.`
  if (!found.template.sendable) return t`The template ${template} (${language}) cannot be sent at the moment.`
  return undefined
}

interface SendAgainFormProps extends Omit<SendAgainModalProps, 'found'> {
  template: OwnTemplate
  /** The content of the original message, if it is stored. */
  content: StoredContent | undefined
}

interface Values {
  variables: Record<string, string>
  values: TemplateValues
}

function SendAgainForm({ message, template: current, content, onClose, onSent }: SendAgainFormProps) {
  const { accountId } = useAccount()
  // Computed once, so that input is kept.
  const [{ template, ...initialValues }] = useState(() => repeatValues(current, content?.content.values))
  // Raw components fill the whole template, so no fields are needed.
  const components = content?.content.values.components
  const valueFields = components ? [] : listValueFields(template)
  const placeholders = components ? [] : template.placeholders
  const keys = placeholders.map(({ key }) => key)
  const paths = valueFields.map(({ path }) => path)
  const [problem, setProblem] = useState<string>()
  const form = useForm<Values>({ initialValues })
  const send = useChange({
    change: api.message.sendAgain.mutate,
    invalidates: [['messages', accountId]],
    onDone: ({ messageId, status }) => {
      if (status === 'failed') notifyFailureMessage(t`The new message was not sent. It is in the log with the reason.`)
      else notifySuccess(status === 'sent' ? t`Message sent again.` : t`WhatsApp has not responded yet.`)
      onClose()
      onSent(messageId)
    },
    onFailure: (error) => {
      const { fields, rest } = placeProblems(readFailure(error), { keys, paths })
      form.setErrors(fields)
      // The form has no field for the recipient.
      setProblem(rest ?? fields['to'])
    },
  })
  const submit = form.onSubmit(({ variables, values }) => {
    setProblem(undefined)
    const { code: _code, ...request } = toRequestValues(values, template)
    const filling = components ? { components } : { ...(keys.length > 0 && { variables }), ...request }
    send.mutate({ accountId, messageId: message.messageId, ...filling })
  })
  return (
    <Form onSubmit={submit}>
      <DuplicateWarning message={message} />
      <Consequence message={message} />
      {keys.length + paths.length > 0 && (
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {content
              ? t`These are the values of the first message.`
              : t`The values of the first message are not stored. Enter them again.`}
          </Text>
          {placeholders.map(({ key, example }) => (
            <TextInput
              key={key}
              label={`{{${key}}}`}
              autoComplete="off"
              {...(example !== undefined && { placeholder: t`Such as ${example}` })}
              styles={{ label: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
              {...form.getInputProps(`variables.${key}`)}
            />
          ))}
          {valueFields.map(({ path, label, example }) => (
            <TextInput
              key={path}
              label={label}
              autoComplete="off"
              placeholder={t`Such as ${example}`}
              {...form.getInputProps(`values.${path}`)}
            />
          ))}
        </Stack>
      )}
      {content?.templateChanged && (
        <Alert color="yellow" icon={<IconInfoCircle />}>
          <Trans>The template was changed after the first message. The new message can say something else.</Trans>
        </Alert>
      )}
      {content && components ? (
        <SentBubble message={message} shown={content.content.shown} />
      ) : (
        <MessagePreview
          template={template}
          variables={form.values.variables}
          headerText={form.values.values.header?.text ?? ''}
        />
      )}
      <CostEstimateText to={message.to} category={template.category} />
      <SendErrorAlert title={t`Message not sent`} problem={problem} error={send.error} />
      <FormActions icon={IconSend} loading={send.isPending} onCancel={onClose}>
        {message.status === 'pending' ? t`Send anyway` : t`Send again`}
      </FormActions>
    </Form>
  )
}

function Consequence({ message: { to, template, language, externalId } }: { message: Message }) {
  const { sandbox } = useUser()
  return (
    <Text size="sm">
      {externalId === undefined ? (
        <Trans>
          A new message with the template {template} ({language}) is sent to <strong>{showRecipient(to)}</strong>.
        </Trans>
      ) : (
        <Trans>
          A new message with the template {template} ({language}) is sent to <strong>{showRecipient(to)}</strong>, with
          the external ID {externalId}.
        </Trans>
      )}{' '}
      {sandbox ? t`WhatsApp is simulated here, so it reaches no phone.` : t`WhatsApp may charge for it.`}
    </Text>
  )
}
