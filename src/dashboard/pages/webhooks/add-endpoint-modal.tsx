import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { defaultEventTypes } from '../../../../contracts/events.ts'
import { showInForm } from '../../api/form-failure.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { EventChoice } from './event-choice.tsx'
import { HowToVerify } from './how-to-verify.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { webhooksKey } from './use-endpoints.ts'

interface AddEndpointModalProps {
  opened: boolean
  onClose: () => void
}

/** Where to, and what of; then the secret. */
export function AddEndpointModal({ opened, onClose }: AddEndpointModalProps) {
  const [added, setAdded] = useState<{ endpointId: string; secret: string }>()
  const navigate = useNavigate()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(undefined)}
      title={added ? 'The endpoint was added' : 'Add an endpoint'}
      size="lg"
      // What was typed, or the secret, is not lost by a click beside it.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {added ? (
        <Stack>
          <SigningSecret secret={added.secret} />
          <HowToVerify />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button onClick={() => void navigate(added.endpointId)}>Open the endpoint</Button>
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
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    initialValues: { url: '', events: [...defaultEventTypes], description: '' },
    validate: {
      url: (url) => (URL.canParse(url.trim()) ? null : 'Give the whole URL, such as https://example.com/webhooks.'),
      events: (events) => (events.length > 0 ? null : 'Choose at least one event.'),
    },
  })
  const add = useChange({
    change: ({ url, events, description }: typeof form.values) =>
      settings.webhook.add.mutate({
        accountId,
        url: url.trim(),
        events,
        ...(description.trim() !== '' && { description: description.trim() }),
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
        {problem !== undefined && <ErrorAlert title="The endpoint was not added" error={problem} />}
        <TextInput
          label="URL"
          type="url"
          required
          withAsterisk={false}
          data-autofocus
          placeholder="https://example.com/webhooks"
          description="Your application takes events here, as POST requests with a JSON body."
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
