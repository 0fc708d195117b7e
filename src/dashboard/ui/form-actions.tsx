import { t } from '@lingui/core/macro'
import { Button, type ButtonProps, Group } from '@mantine/core'

interface FormActionsProps extends Pick<ButtonProps, 'children' | 'color' | 'leftSection' | 'loading'> {
  onCancel: () => void
}

/** The end of a form: Cancel, and the button that submits it. */
export function FormActions({ onCancel, ...submit }: FormActionsProps) {
  return (
    <Group justify="flex-end" gap="sm">
      <Button variant="default" onClick={onCancel}>{t`Cancel`}</Button>
      <Button type="submit" {...submit} />
    </Group>
  )
}
