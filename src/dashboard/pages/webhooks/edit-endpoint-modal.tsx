import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Radio, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconInfoCircle } from '@tabler/icons-react'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { eventTypes } from '../../../../contracts/events.ts'
import { api } from '../../api/client.ts'
import { notifySuccess, useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Modal } from '../../ui/dialog.tsx'
import { endpointChecks, EndpointLimits, type EndpointValues, EventChoice, readLimits } from './endpoint-fields.tsx'
import { webhooksKey } from './use-endpoints.ts'
import styles from './webhooks.module.css'
import { Form } from '../../ui/form.tsx'

interface EditEndpointModalProps {
  endpoint: Endpoint
  opened: boolean
  onClose: () => void
}

export function EditEndpointModal({ endpoint, opened, onClose }: EditEndpointModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Edit endpoint`} size="lg" closeOnClickOutside={false}>
      <EditEndpointForm endpoint={endpoint} onClose={onClose} />
    </Modal>
  )
}

interface FormValues extends EndpointValues {
  /** What happens to the custom headers. */
  headersChoice: 'keep' | 'replace' | 'remove'
  /** One header per line. */
  headers: string
}

type Changes = Omit<Parameters<typeof api.webhook.update.mutate>[0], 'accountId' | 'endpointId'>

function EditEndpointForm({ endpoint: current, onClose }: Omit<EditEndpointModalProps, 'opened'>) {
  const { accountId } = useAccount()
  // What the form started from: compared with a later state, saving would revert changes of other members.
  const [endpoint] = useState(current)
  const form = useForm<FormValues>({
    initialValues: {
      url: endpoint.url,
      events: eventTypes.filter((type) => endpoint.events.includes(type)),
      description: endpoint.description ?? '',
      headersChoice: endpoint.hasHeaders ? 'keep' : 'replace',
      headers: '',
      maxPerSecond: endpoint.maxPerSecond ?? '',
      maxConcurrent: endpoint.maxConcurrent ?? '',
    },
    validate: {
      ...endpointChecks,
      headers: (headers, { headersChoice }) => {
        if (headersChoice !== 'replace') return null
        if (endpoint.hasHeaders && headers.trim() === '') return t`Enter at least one header, or choose Keep or Remove.`
        return readHeaders(headers) === undefined ? t`Write each header as “Name: value” on a line of its own.` : null
      },
    },
  })
  const update = useFormChange(form, {
    change: (changes: Changes) => api.webhook.update.mutate({ accountId, endpointId: endpoint.endpointId, ...changes }),
    invalidates: [webhooksKey(accountId)],
    onDone: ({ headersCleared }) => {
      notifySuccess(headersCleared ? t`Endpoint saved. Its custom headers were removed.` : t`Endpoint saved.`)
      onClose()
    },
  })
  const submit = form.onSubmit((values) => {
    const changes = listChanges(endpoint, values)
    if (Object.keys(changes).length === 0) onClose()
    else update.submit(changes)
  })
  const losesHeaders =
    endpoint.hasHeaders && form.values.headersChoice === 'keep' && isAnotherOrigin(form.values.url, endpoint.url)
  return (
    <Form onSubmit={submit} failure={t`Endpoint not saved`} problem={update.problem}>
      <TextInput
        label="URL"
        type="url"
        required
        withAsterisk={false}
        description={t`The signing secret and the delivery history stay. Waiting deliveries go to the new URL.`}
        {...form.getInputProps('url')}
      />
      {losesHeaders && (
        <Alert color="yellow" icon={<IconInfoCircle />} title={t`The custom headers will be removed`} role="status">
          <Trans>
            They may hold credentials for the previous host. To send headers to the new host, choose Replace.
          </Trans>
        </Alert>
      )}
      <EventChoice form={form} />
      <TextInput label={t`Description (optional)`} maxLength={200} {...form.getInputProps('description')} />
      {endpoint.hasHeaders && (
        <Radio.Group
          label={t`Custom headers`}
          description={t`Sent with each request. Their values are not shown.`}
          {...form.getInputProps('headersChoice')}
        >
          <Group mt="xs">
            <Radio value="keep" label={t`Keep`} />
            <Radio value="replace" label={t`Replace`} />
            <Radio value="remove" label={t`Remove`} />
          </Group>
        </Radio.Group>
      )}
      {form.values.headersChoice === 'replace' && (
        <Textarea
          label={endpoint.hasHeaders ? t`New headers` : t`Custom headers (optional)`}
          description={t`Sent with each request and stored encrypted. One per line.`}
          placeholder="X-Api-Key: value"
          autosize
          minRows={2}
          autoComplete="off"
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps('headers')}
        />
      )}
      <EndpointLimits form={form} />
      <Group justify="flex-end" gap="sm" className={styles['modalActions'] ?? ''}>
        <Button variant="default" onClick={onClose}>{t`Cancel`}</Button>
        <Button type="submit" loading={update.isPending}>{t`Save`}</Button>
      </Group>
    </Form>
  )
}

/** Returns only changed fields, so that changing the description does not validate the URL again. */
function listChanges(endpoint: Endpoint, values: FormValues): Changes {
  const { url, events, description, headersChoice, headers } = values
  const { maxPerSecond, maxConcurrent } = readLimits(values)
  const isSame = events.length === endpoint.events.length && events.every((type) => endpoint.events.includes(type))
  const given = headersChoice === 'remove' ? [] : readHeaders(headers)
  const changesHeaders = headersChoice === 'remove' || (headersChoice === 'replace' && headers.trim() !== '')
  return {
    ...(url.trim() !== endpoint.url && { url: url.trim() }),
    ...(!isSame && { events }),
    ...(description.trim() !== (endpoint.description ?? '') && { description: description.trim() }),
    ...(changesHeaders && given && { headers: given }),
    ...(maxPerSecond !== endpoint.maxPerSecond && { maxPerSecond: maxPerSecond ?? null }),
    ...(maxConcurrent !== endpoint.maxConcurrent && { maxConcurrent: maxConcurrent ?? null }),
  }
}

/** Undefined if a line is not a valid header. */
function readHeaders(text: string): { name: string; value: string }[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const headers = lines.flatMap((line) => {
    const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
  return headers.length === lines.length ? headers : undefined
}

function isAnotherOrigin(url: string, before: string): boolean {
  return URL.canParse(url.trim()) && new URL(url.trim()).origin !== new URL(before).origin
}
