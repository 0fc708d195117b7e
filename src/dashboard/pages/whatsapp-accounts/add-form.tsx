import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { AccessTokenField, AppSecretField } from './secret-fields.tsx'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'

interface AddFormProps {
  isFirst: boolean
  onAdded: () => void
  onCancel: () => void
}

const empty = { phoneNumberId: '', wabaId: '', accessToken: '', appSecret: '', makeDefault: false }

export function AddForm({ isFirst, onAdded, onCancel }: AddFormProps) {
  const { accountId } = useAccount()
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: empty,
    validate: {
      phoneNumberId: (id) => (id.trim() === '' ? 'Type the phone number ID.' : null),
      wabaId: (id) => (id.trim() === '' ? 'Type the WABA ID.' : null),
      accessToken: (token) => (token.trim() === '' ? 'Paste the access token.' : null),
    },
  })
  const add = useChange({
    change: settings.whatsAppAccount.add.mutate,
    invalidates: [whatsAppAccountsKey(accountId)],
    onDone: onAdded,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ appSecret, ...values }) => {
    setProblem(undefined)
    add.mutate({ accountId, ...values, ...(appSecret.trim() !== '' && { appSecret }) })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="It was not added" error={problem} />}
        <TextInput
          label="Phone number ID"
          description="WhatsApp Manager, Account tools, Phone numbers, then the number. Digits only; it is not the telephone number."
          inputMode="numeric"
          autoComplete="off"
          data-autofocus
          key={form.key('phoneNumberId')}
          {...form.getInputProps('phoneNumberId')}
        />
        <TextInput
          label="WABA ID"
          description="The WhatsApp Business Account ID: WhatsApp Manager shows it beside the name of the account."
          inputMode="numeric"
          autoComplete="off"
          key={form.key('wabaId')}
          {...form.getInputProps('wabaId')}
        />
        <AccessTokenField key={form.key('accessToken')} {...form.getInputProps('accessToken')} />
        <AppSecretField
          label="App secret (optional)"
          key={form.key('appSecret')}
          {...form.getInputProps('appSecret')}
        />
        {!isFirst && (
          <Checkbox
            label="Make it the default"
            description="It then sends whatever names no WhatsApp account."
            key={form.key('makeDefault')}
            {...form.getInputProps('makeDefault', { type: 'checkbox' })}
          />
        )}
        <Text size="sm" c="dimmed">
          Token and secret are stored encrypted. Nobody can read them here again; they can only be replaced.
        </Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add account
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
