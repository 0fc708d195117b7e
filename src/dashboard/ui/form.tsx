import { t } from '@lingui/core/macro'
import { Group, Stack, type StackProps } from '@mantine/core'
import type { ComponentProps } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { readFailure } from '../api/failure.ts'
import { ErrorAlert } from './placeholders.tsx'

interface FormProps extends Omit<StackProps, 'onSubmit'>, Pick<ComponentProps<'form'>, 'onSubmit'> {
  /** What no field of the form shows; undefined if there is nothing. */
  problem?: string | undefined
  /** The title of the problem. */
  failure?: string
}

/** A form whose fields say themselves what is wrong with them, and the problem that belongs to none of them. */
export function Form({ onSubmit, failure, problem, children, ...stack }: FormProps) {
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack {...stack}>
        {problem !== undefined && <ErrorAlert {...(failure !== undefined && { title: failure })} error={problem} />}
        {children}
      </Stack>
    </form>
  )
}

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

interface SendErrorAlertProps {
  title: string
  /** What no field of the form shows; undefined if there is nothing. */
  problem: string | undefined
  /** The error behind it. */
  error: unknown
}

/** Why no message was sent. If the response was lost, it may have been, and another try would send a second one. */
export function SendErrorAlert({ title, problem, error }: SendErrorAlertProps) {
  if (problem === undefined) return null
  if (readFailure(error).code !== undefined) return <ErrorAlert title={title} error={problem} />
  return (
    <ErrorAlert
      title={t`Outcome unknown`}
      error={t`The message may have been sent. Look at the log before you send it again.`}
    />
  )
}
