import { Anchor, Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { defaultEventTypes, type EventType } from '../../../../contracts/events.ts'
import { showInForm } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { EndpointLimits, type LimitValues } from './endpoint-limits.tsx'
import { EventChoice } from './event-choice.tsx'
import { SigningSecret } from './secret-section.tsx'
import { webhooksKey } from './use-endpoints.ts'

interface AddEndpointModalProps {
  opened: boolean
  onClose: () => void
}

/** Asks for URL and events, then shows the secret. */
export function AddEndpointModal({ opened, onClose }: AddEndpointModalProps) {
  const [added, setAdded] = useState<{ endpointId: string; secret: string }>()
  const navigate = useNavigate()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(undefined)}
      title={added ? 'Endpoint added' : 'Add endpoint'}
      size="lg"
      // A click outside would discard the input or the secret.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {added ? (
        <Stack>
          <SigningSecret secret={added.secret} />
          <ReceiverExample />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button onClick={() => void navigate(added.endpointId)}>View endpoint</Button>
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

interface FormValues extends LimitValues {
  url: string
  events: EventType[]
  description: string
}

function AddEndpointForm({ onAdded, onCancel }: AddEndpointFormProps) {
  const { accountId } = useAccount()
  const [problem, setProblem] = useState<string>()
  const form = useForm<FormValues>({
    initialValues: { url: '', events: [...defaultEventTypes], description: '', maxPerSecond: '', maxConcurrent: '' },
    validate: {
      url: (url) => (URL.canParse(url.trim()) ? null : 'Enter the full URL, such as https://example.com/webhooks.'),
      events: (events) => (events.length > 0 ? null : 'Choose at least one event.'),
    },
  })
  const add = useChange({
    change: ({ url, events, description, maxPerSecond, maxConcurrent }: FormValues) =>
      api.webhook.add.mutate({
        accountId,
        url: url.trim(),
        events,
        ...(description.trim() !== '' && { description: description.trim() }),
        ...(maxPerSecond !== '' && { maxPerSecond }),
        ...(maxConcurrent !== '' && { maxConcurrent }),
      }),
    invalidates: [webhooksKey(accountId)],
    onDone: onAdded,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit((values) => {
    setProblem(undefined)
    add.mutate(values)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="Endpoint not added" error={problem} />}
        <TextInput
          label="URL"
          type="url"
          required
          withAsterisk={false}
          data-autofocus
          placeholder="https://example.com/webhooks"
          description="Your application receives events here as POST requests with a JSON body."
          {...form.getInputProps('url')}
        />
        <EventChoice
          value={form.values.events}
          onChange={(events) => form.setFieldValue('events', events)}
          error={typeof form.errors['events'] === 'string' ? form.errors['events'] : undefined}
        />
        <TextInput
          label="Description (optional)"
          placeholder="Order system"
          maxLength={200}
          {...form.getInputProps('description')}
        />
        <EndpointLimits form={form} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add endpoint
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function ReceiverExample() {
  return (
    <Stack gap="xs">
      <Text size="sm">In TypeScript or JavaScript, use the Waybill package:</Text>
      <CodeBlock label="Example receiver" code={example} />
      <Text size="sm" c="dimmed">
        In other languages, pass the raw body, the <Code>webhook-</Code> headers and the secret to a{' '}
        <Anchor href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer" inherit underline="always">
          Standard Webhooks
        </Anchor>{' '}
        library.
      </Text>
    </Stack>
  )
}

/** A minimal receiver with our package. */
const example = `import { createFetchWebhookHandler } from 'waybill/webhook'

export const POST = createFetchWebhookHandler({
  secret: process.env.WEBHOOK_SECRET ?? '',
  on: {
    'message.failed': ({ data }) => console.error(data.error.message),
  },
})`
