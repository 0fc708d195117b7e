import { t } from '@lingui/core/macro'
import { Group } from '@mantine/core'
import { Button, type ButtonProps } from './button.tsx'

interface FormActionsProps extends Pick<ButtonProps, 'children' | 'color' | 'icon' | 'loading'> {
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
