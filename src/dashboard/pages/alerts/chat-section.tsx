import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertCircle, IconSend, IconTrash } from '@tabler/icons-react'
import { type Chat, type ChatFormat, type ChatTest, chatFormats } from '../../../../contracts/dashboard/alert.ts'
import { say } from '../../language/facts.ts'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, notifySuccess, useChange, useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PasswordField } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import { alertsKey } from './use-alerts.ts'
import { Form } from '../../ui/form.tsx'

const formatNames = { slack: 'Slack', teams: 'Microsoft Teams' } satisfies Record<ChatFormat, string>

export function ChatSection({ chat }: { chat: Chat | undefined }) {
  const [replacing, { open, close }] = useDisclosure()
  return (
    <Section
      title={t`Chat`}
      description={t`Posts all alerts, warnings and critical ones, to a channel in Slack or Microsoft Teams.`}
      actions={chat && !replacing && <ChatActions onReplace={open} />}
    >
      {chat && !replacing ? (
        <ShownChat chat={chat} />
      ) : (
        <ChatForm onSaved={close} onCancel={chat ? close : undefined} />
      )}
    </Section>
  )
}

function ShownChat({ chat: { format, host, problem, problemAt, facts } }: { chat: Chat }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Trans>
          Alerts are posted to {formatNames[format]} at {host}.
        </Trans>
      </Text>
      {problem !== undefined && (
        // Without a time, nothing was posted: the URL cannot be read.
        <Alert color="red" icon={<IconAlertCircle />} title={problemAt && t`The last post failed`}>
          {say({ problem, facts }, 'problem')}
          {problemAt !== undefined && (
            <>
              {' '}
              (<DateTime at={problemAt} />)
            </>
          )}
        </Alert>
      )}
    </Stack>
  )
}

function ChatActions({ onReplace }: { onReplace: () => void }) {
  const { accountId } = useAccount()
  const [removing, { open, close }] = useDisclosure()
  const test = useChange({
    change: () => api.alert.testChat.mutate({ accountId }),
    invalidates: [alertsKey(accountId)],
    onDone: notifyTest,
  })
  const remove = useChange({
    change: () => api.alert.removeChat.mutate({ accountId }),
    invalidates: [alertsKey(accountId)],
    done: t`Chat removed.`,
    onDone: close,
  })
  return (
    <>
      <ChangeButton variant="default" icon={IconSend} change={test}>{t`Send test message`}</ChangeButton>
      <ChangeButton variant="default" onClick={onReplace}>{t`Replace`}</ChangeButton>
      <ChangeButton variant="default" icon={IconTrash} onClick={open}>{t`Remove`}</ChangeButton>
      <ConfirmModal
        opened={removing}
        onClose={close}
        title={t`Remove the chat?`}
        consequence={t`Alerts are no longer posted. To add the chat again, you need its webhook URL.`}
        confirmLabel={t`Remove chat`}
        change={remove}
      />
    </>
  )
}

function notifyTest({ posted, error, facts }: ChatTest): void {
  if (posted) notifySuccess(t`Test message posted.`)
  else
    notifyFailureMessage(
      error === undefined
        ? t`The test message was not posted: no answer.`
        : t`The test message was not posted: ${say({ error, facts }, 'error')}.`,
    )
}

interface ChatFormProps {
  onSaved: () => void
  /** Undefined if no chat is set. */
  onCancel: (() => void) | undefined
}

function ChatForm({ onSaved, onCancel }: ChatFormProps) {
  const { accountId, canChange } = useAccount()
  const form = useForm({
    initialValues: { url: '', format: '' },
    validate: { url: (url) => (url.trim() === '' ? t`Enter the webhook URL of the channel.` : null) },
  })
  const save = useFormChange(form, {
    change: ({ url, format }: typeof form.values) => {
      const chosen = chatFormats.find((known) => known === format)
      return api.alert.setChat.mutate({ accountId, url: url.trim(), ...(chosen && { format: chosen }) })
    },
    invalidates: [alertsKey(accountId)],
    done: ({ host }) => t`Alerts are posted to ${host}.`,
    onDone: onSaved,
  })
  return (
    <Form
      onSubmit={form.onSubmit(save.submit)}
      gap="sm"
      maw={520}
      failure={t`The chat was not saved`}
      problem={save.problem}
    >
      <PasswordField
        label={t`Webhook URL`}
        description={t`Slack: add an incoming webhook to the channel. Teams: in Workflows, create “Send webhook alerts to a channel”. Whoever has this URL can post, so it is not shown again.`}
        placeholder="https://hooks.slack.com/services/…"
        autoComplete="off"
        disabled={!canChange}
        {...form.getInputProps('url')}
      />
      <NativeSelect
        label={t`Format`}
        data={[
          { value: '', label: t`Detect from the URL` },
          ...chatFormats.map((format) => ({ value: format, label: formatNames[format] })),
        ]}
        disabled={!canChange}
        {...form.getInputProps('format')}
      />
      <Group gap="sm">
        <ChangeButton type="submit" variant="default" loading={save.isPending}>{t`Save chat`}</ChangeButton>
        {onCancel && <Button variant="subtle" color="gray" onClick={onCancel}>{t`Cancel`}</Button>}
      </Group>
    </Form>
  )
}
