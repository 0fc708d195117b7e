import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { defaultEventTypes } from '../../../../contracts/events.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { endpointChecks, EndpointLimits, type EndpointValues, EventChoice, readLimits } from './endpoint-fields.tsx'
import { SigningSecret } from './secret-section.tsx'
import { webhooksKey } from './use-endpoints.ts'

/** Asks for the URL and events, then shows the signing secret. */
export function AddEndpointModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [added, setAdded] = useState<{ endpointId: string; secret: string }>()
  const navigate = useNavigate()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(undefined)}
      title={added ? t`Endpoint added` : t`Add endpoint`}
      size="lg"
      // A click outside would discard the input or the secret.
      closeOnClickOutside={false}
    >
      {added ? (
        <Stack>
          <SigningSecret secret={added.secret} />
          <ReceiverExample />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>{t`Close`}</Button>
            <Button onClick={() => void navigate(added.endpointId)}>{t`View endpoint`}</Button>
          </Group>
        </Stack>
      ) : (
        <AddEndpointForm onAdded={setAdded} onCancel={onClose} />
      )}
    </Modal>
  )
}

interface AddEndpointFormProps {
  onAdded: (added: { endpointId: string; secret: string }) => void
  onCancel: () => void
}

function AddEndpointForm({ onAdded, onCancel }: AddEndpointFormProps) {
  const { accountId } = useAccount()
  const form = useForm<EndpointValues>({
    initialValues: { url: '', events: [...defaultEventTypes], description: '', maxPerSecond: '', maxConcurrent: '' },
    validate: endpointChecks,
  })
  const add = useFormChange(form, {
    change: ({ url, events, description, ...limits }: EndpointValues) => {
      const { maxPerSecond, maxConcurrent } = readLimits(limits)
      return api.webhook.add.mutate({
        accountId,
        url: url.trim(),
        events,
        ...(description.trim() !== '' && { description: description.trim() }),
        ...(maxPerSecond !== undefined && { maxPerSecond }),
        ...(maxConcurrent !== undefined && { maxConcurrent }),
      })
    },
    invalidates: [webhooksKey(accountId)],
    onDone: onAdded,
  })
  return (
    <Form onSubmit={form.onSubmit(add.submit)} failure={t`Endpoint not added`} problem={add.problem}>
      <TextInput
        label="URL"
        type="url"
        required
        withAsterisk={false}
        data-autofocus
        placeholder="https://example.com/webhooks"
        description={t`Your application receives events here as POST requests with a JSON body.`}
        {...form.getInputProps('url')}
      />
      <EventChoice form={form} />
      <TextInput
        label={t`Description (optional)`}
        placeholder={t`Order system`}
        maxLength={200}
        {...form.getInputProps('description')}
      />
      <EndpointLimits form={form} />
      <FormActions loading={add.isPending} onCancel={onCancel}>{t`Add endpoint`}</FormActions>
    </Form>
  )
}

function ReceiverExample() {
  return (
    <Stack gap="xs">
      <Text size="sm">{t`In TypeScript or JavaScript, use the Waybill package:`}</Text>
      <CodeBlock label={t`Example receiver`} code={writeReceiver(location.origin)} />
      <Text size="sm" c="dimmed">
        <Trans>
          In other languages, pass the raw body, the <Code>webhook-</Code> headers and the secret to a{' '}
          <Anchor href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer" inherit underline="always">
            Standard Webhooks
          </Anchor>{' '}
          library.
        </Trans>
      </Text>
    </Stack>
  )
}

/** A minimal receiver that uses the package that this server serves. */
const writeReceiver = (url: string) => `import { createFetchWebhookHandler } from 'waybill-client/webhook'
// npm install ${url}/client/waybill-client.tgz

export const POST = createFetchWebhookHandler({
  secret: process.env.WEBHOOK_SECRET ?? '',
  on: {
    'message.failed': ({ data }) => console.error(data.error.message),
  },
})`
