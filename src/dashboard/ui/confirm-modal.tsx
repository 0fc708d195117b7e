import { t } from '@lingui/core/macro'
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Button, type Change } from './button.tsx'
import { Modal } from './dialog.tsx'

interface ConfirmModalProps {
  opened: boolean
  /** The question, such as `Revoke the API key?` */
  title: string
  /** What happens on confirmation. */
  consequence: ReactNode
  /** The verb, such as `Revoke key`. */
  confirmLabel: string
  /** Red by default, for destructive actions. */
  color?: string
  change: Change
  /** Whether a choice is still missing. */
  disabled?: boolean
  onClose: () => void
}

export function ConfirmModal({
  opened,
  title,
  consequence,
  confirmLabel,
  color = 'red.9',
  change,
  disabled = false,
  onClose,
}: ConfirmModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered>
      <Text component="div" size="sm">
        {consequence}
      </Text>
      <Group justify="flex-end" gap="sm" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>{t`Cancel`}</Button>
        <Button color={color} change={change} disabled={disabled}>
          {confirmLabel}
        </Button>
      </Group>
    </Modal>
  )
}
