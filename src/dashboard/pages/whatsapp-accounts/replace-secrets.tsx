import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, type PasswordInputProps, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { PasswordField } from '../../ui/fields.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ActivateButton } from './notice.tsx'
import { healthKey } from './use-health.ts'
import { useWhatsAppAccounts, whatsAppAccountsKey } from './use-whatsapp-accounts.ts'

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
    <Modal opened={opened} onClose={props.onClose} title={t`Replace secrets`} size="lg" closeOnClickOutside={false}>
      <ReplaceSecretsForm {...props} />
    </Modal>
  )
}

function ReplaceSecretsForm({ account, onClose, onReplaced }: ReplaceSecretsProps) {
  const { accountId } = useAccount()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { accessToken: '', appSecret: '' },
    validate: {
      accessToken: (token, { appSecret }) =>
        token.trim() === '' && appSecret.trim() === '' ? t`Enter a new access token or an app secret.` : null,
    },
  })
  const replace = useFormChange(form, {
    change: api.whatsAppAccount.replaceSecrets.mutate,
    invalidates: [whatsAppAccountsKey(accountId), healthKey(accountId)],
    done: t`Secrets replaced.`,
    onDone: () => {
      onReplaced()
      onClose()
    },
  })
  const submit = form.onSubmit(({ accessToken, appSecret }) => {
    replace.submit({
      accountId,
      whatsAppAccountId: account.whatsAppAccountId,
      ...(accessToken.trim() !== '' && { accessToken }),
      ...(appSecret.trim() !== '' && { appSecret }),
    })
  })
  return (
    <Form onSubmit={submit} failure={t`Secrets not replaced`} problem={replace.problem}>
      <Text size="sm">
        <Trans>Phone number ID {account.phoneNumberId}. Empty fields stay unchanged.</Trans>
        {account.switchedOff === false && ` ${t`A valid access token activates the account again.`}`}
      </Text>
      <AccessTokenField label={t`New access token`} data-autofocus {...form.getInputProps('accessToken')} />
      <AppSecretField
        label={account.hasAppSecret ? t`New app secret` : t`App secret`}
        {...form.getInputProps('appSecret')}
      />
      <Text size="sm" c="dimmed">
        <Trans>
          The old values are deleted immediately. The new ones are stored encrypted and cannot be viewed again.
        </Trans>
      </Text>
      <FormActions loading={replace.isPending} onCancel={onClose}>{t`Replace`}</FormActions>
    </Form>
  )
}

/** `one-time-code` keeps browsers from saving the token as a password or filling one in. */
export function AccessTokenField(props: PasswordInputProps) {
  return (
    <PasswordField
      label={t`Access token`}
      description={t`A system user token with the permissions whatsapp_business_messaging and whatsapp_business_management. In Meta’s Business settings: Users → System users → Generate token.`}
      autoComplete="one-time-code"
      spellCheck={false}
      {...props}
    />
  )
}

export function AppSecretField(props: PasswordInputProps) {
  return (
    <PasswordField
      label={t`App secret`}
      description={t`In your Meta app: App settings → Basic. Waybill uses it to verify that callbacks come from Meta.`}
      autoComplete="one-time-code"
      spellCheck={false}
      {...props}
    />
  )
}

interface ReplaceSecretsButtonProps {
  whatsAppAccountId: string
  /** Whether this is the action that the user must take now. */
  isUrgent?: boolean
  /** Whether WhatsApp rejects the account. It can be activated again once the cause is fixed. */
  isRejected?: boolean
  children: ReactNode
}

/** Replaces the token or app secret, and offers to activate an inactive account. */
export function ReplaceSecretsButton({
  whatsAppAccountId,
  isUrgent = true,
  isRejected = false,
  children,
}: ReplaceSecretsButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  const account = useWhatsAppAccounts().data?.find((one) => one.whatsAppAccountId === whatsAppAccountId)
  if (!account) return null
  return (
    <Group gap="xs">
      <ChangeButton size="xs" variant={isUrgent ? 'filled' : 'default'} onClick={open}>
        {children}
      </ChangeButton>
      {isRejected && <ActivateButton account={account} onActivated={() => {}} />}
      <ReplaceSecretsModal account={account} opened={opened} onClose={close} onReplaced={() => {}} />
    </Group>
  )
}

/** Activates an account that a user deactivated. */
export function ActivateAccount({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const account = useWhatsAppAccounts().data?.find((one) => one.whatsAppAccountId === whatsAppAccountId)
  return account ? <ActivateButton account={account} onActivated={() => {}} /> : null
}
