import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconCircleCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { useSync } from '../templates/use-templates.ts'
import { AccessTokenField, AppSecretField } from './replace-secrets.tsx'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'

interface AddModalProps {
  opened: boolean
  /** The first account always becomes the default. */
  isFirst: boolean
  onClose: () => void
}

export function AddModal({ opened, isFirst, onClose }: AddModalProps) {
  const [isAdded, setAdded] = useState(false)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(false)}
      title={isAdded ? t`WhatsApp account added` : t`Add a WhatsApp account`}
      size="lg"
      // A click outside would discard the input.
      closeOnClickOutside={false}
    >
      {isAdded ? (
        <AddedStep onClose={onClose} />
      ) : (
        <AddForm isFirst={isFirst} onAdded={() => setAdded(true)} onCancel={onClose} />
      )}
    </Modal>
  )
}

const empty = { phoneNumberId: '', wabaId: '', accessToken: '', appSecret: '', makeDefault: false }

function AddForm({ isFirst, onAdded, onCancel }: { isFirst: boolean; onAdded: () => void; onCancel: () => void }) {
  const { accountId } = useAccount()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: empty,
    validate: {
      phoneNumberId: (id) => (id.trim() === '' ? t`Enter the phone number ID.` : null),
      wabaId: (id) => (id.trim() === '' ? t`Enter the WABA ID.` : null),
      accessToken: (token) => (token.trim() === '' ? t`Enter the access token.` : null),
    },
  })
  const add = useFormChange(form, {
    change: api.whatsAppAccount.add.mutate,
    invalidates: [whatsAppAccountsKey(accountId)],
    onDone: onAdded,
  })
  const submit = form.onSubmit(({ appSecret, ...values }) =>
    add.submit({ accountId, ...values, ...(appSecret.trim() !== '' && { appSecret }) }),
  )
  return (
    <Form onSubmit={submit} failure={t`Account not added`} problem={add.problem}>
      <TextInput
        label={t`Phone number ID`}
        description={t`In WhatsApp Manager: Account tools → Phone numbers → your number. Digits only. This is not the phone number itself.`}
        inputMode="numeric"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('phoneNumberId')}
      />
      <TextInput
        label={t`WABA ID`}
        description={t`The WhatsApp Business Account ID, shown next to the account name in WhatsApp Manager.`}
        inputMode="numeric"
        autoComplete="off"
        {...form.getInputProps('wabaId')}
      />
      <AccessTokenField {...form.getInputProps('accessToken')} />
      <AppSecretField label={t`App secret (optional)`} {...form.getInputProps('appSecret')} />
      {!isFirst && (
        <Checkbox
          label={t`Make default`}
          description={t`Used when a request doesn’t set accountId.`}
          {...form.getInputProps('makeDefault', { type: 'checkbox' })}
        />
      )}
      <Text size="sm" c="dimmed">
        <Trans>The token and the secret are stored encrypted. They cannot be viewed again, only replaced.</Trans>
      </Text>
      <FormActions loading={add.isPending} onCancel={onCancel}>{t`Add account`}</FormActions>
    </Form>
  )
}

/** A new number can send only after its templates are synced. */
function AddedStep({ onClose }: { onClose: () => void }) {
  const { accountId } = useAccount()
  const sync = useSync({ onFailure: () => {} })
  if (sync.isSuccess)
    return (
      <Stack>
        <Alert icon={<IconCircleCheck />} title={t`Templates synced`} role="status">
          {describe(sync.data)}
        </Alert>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>{t`Close`}</Button>
          <LinkButton to={`/${accountId}/templates`}>{t`View templates`}</LinkButton>
        </Group>
      </Stack>
    )
  return (
    <Stack>
      <Text size="sm">{t`Next, sync the templates from WhatsApp. Only synced templates can be sent.`}</Text>
      {sync.isError && <ErrorAlert title={t`Templates not synced`} error={sync.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>{t`Later`}</Button>
        <Button data-autofocus change={sync}>{t`Sync templates`}</Button>
      </Group>
    </Stack>
  )
}

function describe({ synced, approved }: { synced: number; approved: number }): string {
  if (synced === 0) return t`WhatsApp has no templates for this account yet. Create one in WhatsApp Manager.`
  return t`${synced} synced from WhatsApp, ${approved} approved.`
}
