import { notifications } from '@mantine/notifications'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { readFailure } from './failure.ts'

interface Change<Input, Output> {
  change: (input: Input) => Promise<Output>
  /** Queries that the change makes stale: a key stands for all keys that begin with it. */
  invalidates: QueryKey[]
  /** What a notification says once it is done. */
  done?: string | ((output: Output) => string)
  onDone?: (output: Output, input: Input) => void
  /** A form shows its own failures: without this a notification does. */
  onFailure?: (error: unknown) => void
}

/** A mutation as most pages need it: what it changes is read anew, and what came of it is said. */
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
      onDone?.(output, input)
      if (done !== undefined) notifyDone(typeof done === 'string' ? done : done(output))
      await Promise.all(invalidates.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    },
    onError: onFailure,
  })
}

export function notifyDone(message: string): void {
  notifications.show({ message, color: 'waybill' })
}

export function notifyFailure(error: unknown): void {
  notifyFailureMessage(readFailure(error).message)
}

export function notifyFailureMessage(message: string): void {
  notifications.show({ title: 'Something went wrong', message, color: 'red', autoClose: 10_000 })
}
