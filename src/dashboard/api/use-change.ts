import { t } from '@lingui/core/macro'
import { notifications } from '@mantine/notifications'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type FormLike, readFailure, showInForm } from './failure.ts'

interface Change<Input, Output> {
  change: (input: Input) => Promise<Output>
  /** Queries to invalidate. A key includes all keys that start with it. */
  invalidates: QueryKey[]
  /** The success notification. */
  done?: string | ((output: Output) => string)
  /** If it returns a promise, the change is pending until then. */
  onDone?: (output: Output, input: Input) => unknown
  /** Replaces the error notification, for forms that show their own errors. */
  onFailure?: (error: unknown, input: Input) => void
}

/** A mutation that invalidates queries and notifies the user. */
export function useChange<Input = void, Output = unknown>({
  change,
  invalidates,
  done,
  onDone,
  onFailure = notifyFailure,
}: Change<Input, Output>) {
  const queryClient = useQueryClient()
  return useMutation<Output, unknown, Input>({
    mutationFn: change,
    onSuccess: async (output, input) => {
      // Wait, so that the next view already shows the new state.
      await Promise.all(invalidates.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
      await onDone?.(output, input)
      if (done !== undefined) notifySuccess(typeof done === 'string' ? done : done(output))
    },
    onError: onFailure,
  })
}

/**
 * The change that a form submits. A failure is shown at the fields that it names; `problem` is what belongs to none of
 * them, for an alert above the form.
 */
export function useFormChange<Input, Output = unknown>(
  form: FormLike,
  change: Omit<Change<Input, Output>, 'onFailure'>,
) {
  const [problem, setProblem] = useState<string>()
  const { mutate, error, isPending } = useChange<Input, Output>({
    ...change,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = (input: Input) => {
    setProblem(undefined)
    mutate(input)
  }
  return { problem, error, isPending, submit }
}

/**
 * A change of one value that is shown immediately. A mutation becomes pending too late: by then, React has already reset a
 * checkbox.
 */
export function useChoice<Value, Output = unknown>(
  stored: Value,
  { onDone, onFailure, ...change }: Change<Value, Output>,
) {
  const [choice, setChoice] = useState<Value>()
  const save = useChange<Value, Output>({
    ...change,
    onDone: (output, input) => {
      setChoice(undefined)
      return onDone?.(output, input)
    },
    onFailure: (error, value) => {
      setChoice(undefined)
      ;(onFailure ?? notifyFailure)(error, value)
    },
  })
  const choose = (value: Value) => {
    setChoice(value)
    save.mutate(value)
  }
  return { shown: choice ?? stored, isPending: choice !== undefined, choose }
}

export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'waybill' })
}

/** Stays until the user closes it. */
export function notifyWarning(message: string): void {
  notifications.show({ message, color: 'yellow', autoClose: false })
}

export function notifyFailure(error: unknown): void {
  notifyFailureMessage(readFailure(error).message)
}

export function notifyFailureMessage(message: string): void {
  notifications.show({ title: t`Something went wrong`, message, color: 'red', autoClose: 10_000 })
}
