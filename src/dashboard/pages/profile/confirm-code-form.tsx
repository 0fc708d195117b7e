import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { verifyCode } from '../../api/sign-in-two-factor.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey } from '../../session/session.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { checkCode, CodeField, readCode } from '../sign-in/code-field.tsx'

interface ConfirmCodeFormProps {
  onConfirmed: () => void
  onCancel: () => void
}

/** A first code proves that the app has the key; with it the app is on. */
export function ConfirmCodeForm({ onConfirmed, onCancel }: ConfirmCodeFormProps) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: checkCode },
  })
  const confirm = useChange({
    change: verifyCode,
    invalidates: [sessionKey],
    onDone: onConfirmed,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ code }) => {
    setProblem(undefined)
    confirm.mutate(readCode(code))
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="It is not on yet" error={problem} />}
        <CodeField
          label="Code that the app shows"
          description="Six digits, which change every 30 seconds."
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <Group gap="sm">
          <Button type="submit" loading={confirm.isPending}>
            Turn on
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
