import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { type ConnectStep, Pin } from '../../../../contracts/dashboard/connect.ts'
import { isRegistered } from '../../../../contracts/dashboard/number-status.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/fields.tsx'
import { StepResult } from './step-result.tsx'
import { healthKey } from './use-health.ts'
import { Form } from '../../ui/form.tsx'

interface RegisterFormProps {
  whatsAppAccountId: string
  /** As last reported by WhatsApp; without a status until the first check, right after the number is connected. */
  number: WhatsAppAccountHealth['number']
  isNext: boolean
}

/** Only an unregistered number needs its PIN. */
export function RegisterForm({ whatsAppAccountId, number, isNext }: RegisterFormProps) {
  const { accountId, canChange } = useAccount()
  const [result, setResult] = useState<ConnectStep>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { pin: '' },
    validate: { pin: (pin) => (Pin.safeParse(pin.trim()).success ? null : t`Enter six digits.`) },
  })
  const register = useChange({
    change: api.whatsAppAccount.register.mutate,
    invalidates: [healthKey(accountId)],
    onDone: (step: ConnectStep) => {
      setResult(step)
      form.reset()
    },
  })
  if (isRegistered(number)) {
    const status = (number.status ?? '').toLowerCase().replaceAll('_', ' ')
    return result ? (
      <StepResult result={result} />
    ) : (
      <Text size="sm" c="dimmed">
        {number.onBusinessApp === true ? (
          <Trans>
            The number is also used in the WhatsApp Business app, which has registered it. Registering it here would
            disconnect the app on the phone.
          </Trans>
        ) : (
          <Trans>WhatsApp reports the number as {status}.</Trans>
        )}
      </Text>
    )
  }
  const submit = form.onSubmit(({ pin }) => register.mutate({ accountId, whatsAppAccountId, pin: pin.trim() }))
  return (
    <Form onSubmit={submit} gap="sm">
      {result && <StepResult result={result} />}
      <PasswordField
        label={t`Two-step verification PIN`}
        description={t`Six digits. If the number has a PIN, enter it; if it has none, choose one and keep it. WhatsApp allows 10 attempts in 72 hours.`}
        inputMode="numeric"
        autoComplete="one-time-code"
        maw={320}
        disabled={!canChange}
        key={form.key('pin')}
        {...form.getInputProps('pin')}
      />
      <Group>
        <ChangeButton type="submit" size="xs" variant={isNext ? 'filled' : 'default'} loading={register.isPending}>
          <Trans>Register number</Trans>
        </ChangeButton>
      </Group>
    </Form>
  )
}
