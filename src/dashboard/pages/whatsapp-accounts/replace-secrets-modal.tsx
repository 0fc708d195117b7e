import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { showInForm } from '../../api/form-failure.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { AccessTokenField, AppSecretField } from './secret-fields.tsx'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'

interface ReplaceSecretsModalProps extends ReplaceSecretsProps {
  opened: boolean
}

interface ReplaceSecretsProps {
  account: WhatsAppAccount
  onClose: () => void
  onReplaced: () => void
}

export function ReplaceSecretsModal({ opened, ...props }: ReplaceSecretsModalProps) {
  return (
    <Modal
      opened={opened}
      onClose={props.onClose}
      title="Replace token or app secret"
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <ReplaceSecretsForm {...props} />
    </Modal>
  )
}

function ReplaceSecretsForm({ account, onClose, onReplaced }: ReplaceSecretsProps) {
  const { accountId } = useAccount()
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { accessToken: '', appSecret: '' },
    validate: {
      accessToken: (token, { appSecret }) =>
        token.trim() === '' && appSecret.trim() === '' ? 'Paste a new access token, or an app secret below.' : null,
    },
  })
  const replace = useChange({
    change: settings.whatsAppAccount.replaceSecrets.mutate,
    invalidates: [whatsAppAccountsKey(accountId)],
    done: 'Replaced.',
    onDone: () => {
      onReplaced()
      onClose()
    },
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ accessToken, appSecret }) => {
    setProblem(undefined)
    replace.mutate({
      accountId,
      whatsAppAccountId: account.whatsAppAccountId,
      ...(accessToken.trim() !== '' && { accessToken }),
      ...(appSecret.trim() !== '' && { appSecret }),
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="Nothing was replaced" error={problem} />}
        <Text size="sm">
          Phone number ID {account.phoneNumberId}. What you leave empty stays as it is.
          {account.switchedOff === false && ' With an access token that WhatsApp accepts, the account is active again.'}
        </Text>
        <AccessTokenField
          label="New access token"
          data-autofocus
          key={form.key('accessToken')}
          {...form.getInputProps('accessToken')}
        />
        <AppSecretField
          label={account.hasAppSecret ? 'New app secret' : 'App secret'}
          key={form.key('appSecret')}
          {...form.getInputProps('appSecret')}
        />
        <Text size="sm" c="dimmed">
          The old ones are forgotten at once. The new ones are stored encrypted, and nobody can read them here again.
        </Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={replace.isPending}>
            Replace
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
