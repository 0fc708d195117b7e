import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
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
import { ErrorAlert, LoadingSkeleton } from '../../../ui/placeholders.tsx'
import { MessagePreview } from '../../templates/message-preview.tsx'
import { placeProblems } from '../../templates/place-problems.ts'
import { listValueFields, type TemplateValues, toRequestValues } from '../../templates/template-values.ts'
import { takesCode, valuesWith, variablesWith } from './template-values.ts'
import type { FoundTemplate } from './use-template.ts'

interface SendAgainModalProps {
  message: Message
  found: FoundTemplate
  onClose: () => void
  /** With the ID of the new message, whatever came of it. */
  onSent: (messageId: string) => void
}

/** Asks for confirmation, and for the values that are not stored. */
export function SendAgainModal({ message, found, onClose, onSent }: SendAgainModalProps) {
  const obstacle = findObstacle(message, found)
  return (
    <Modal opened onClose={onClose} title="Send this message again?" size="lg">
      {found.kind === 'loading' && <LoadingSkeleton lines={3} />}
      {obstacle !== undefined && (
        <Stack>
          <Alert color="gray" icon={<IconInfoCircle />} title="This message cannot be sent again">
            {obstacle}
          </Alert>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
          </Group>
        </Stack>
      )}
      {found.kind === 'found' && obstacle === undefined && (
        <SendAgainForm message={message} template={found.template} onClose={onClose} onSent={onSent} />
      )}
    </Modal>
  )
}

/** Why the message cannot be sent again; undefined if it can. */
function findObstacle({ to, template, language }: Message, found: FoundTemplate): string | undefined {
  if (to === erasedRecipient) return 'Its recipient was erased.'
  if (found.kind === 'loading') return undefined
  if (found.kind === 'missing') return `The template ${template} (${language}) is no longer available.`
  if (takesCode(found.template)) return 'One-time codes are not stored. Send a new code instead.'
  if (!found.template.sendable) return `The template ${template} (${language}) cannot be sent at the moment.`
  return undefined
}

interface SendAgainFormProps extends Omit<SendAgainModalProps, 'found'> {
  template: OwnTemplate
}

interface Values {
  variables: Record<string, string>
  values: TemplateValues
}

function SendAgainForm({ message, template, onClose, onSent }: SendAgainFormProps) {
  const { accountId } = useAccount()
  const valueFields = listValueFields(template)
  const keys = template.placeholders.map(({ key }) => key)
  const paths = valueFields.map(({ path }) => path)
  const [problem, setProblem] = useState<string>()
  const form = useForm<Values>({
    initialValues: { variables: variablesWith(template, () => ''), values: valuesWith(template, () => '') },
  })
  const send = useChange({
    change: api.message.sendAgain.mutate,
    invalidates: [['messages', accountId]],
    onDone: ({ messageId, status }) => {
      if (status === 'failed') notifyFailureMessage('The new message was not sent. It is in the log with the reason.')
      else notifySuccess(status === 'sent' ? 'Message sent again.' : 'WhatsApp has not responded yet.')
      onClose()
      onSent(messageId)
    },
    onFailure: (error) => {
      const { fields, rest } = placeProblems(readFailure(error), { keys, paths })
      form.setErrors(fields)
      setProblem(rest)
    },
  })
  const submit = form.onSubmit(({ variables, values }) => {
    setProblem(undefined)
    const { code: _code, ...request } = toRequestValues(values, template)
    send.mutate({ accountId, messageId: message.messageId, ...(keys.length > 0 && { variables }), ...request })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Consequence message={message} />
        {keys.length + paths.length > 0 && (
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              The values of the first message are not stored. Enter them again.
            </Text>
            {template.placeholders.map(({ key, example }) => (
              <TextInput
                key={key}
                label={`{{${key}}}`}
                autoComplete="off"
                {...(example !== undefined && { placeholder: `Such as ${example}` })}
                styles={{ label: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
                {...form.getInputProps(`variables.${key}`)}
              />
            ))}
            {valueFields.map(({ path, label, example }) => (
              <TextInput
                key={path}
                label={label}
                autoComplete="off"
                placeholder={`Such as ${example}`}
                {...form.getInputProps(`values.${path}`)}
              />
            ))}
          </Stack>
        )}
        <MessagePreview
          template={template}
          variables={form.values.variables}
          headerText={form.values.values.header?.text ?? ''}
        />
        <CostEstimateText to={message.to} category={template.category} />
        {problem !== undefined && <ErrorAlert title="Message not sent" error={problem} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" leftSection={<IconSend size={16} />} loading={send.isPending}>
            Send again
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Consequence({ message: { to, template, language, externalId } }: { message: Message }) {
  const { sandbox } = useUser()
  return (
    <Text size="sm">
      A new message with the template {template} ({language}) is sent to <strong>+{to}</strong>
      {externalId !== undefined && `, with the external ID ${externalId}`}.{' '}
      {sandbox ? 'WhatsApp is simulated here, so it reaches no phone.' : 'WhatsApp may charge for it.'}
    </Text>
  )
}
