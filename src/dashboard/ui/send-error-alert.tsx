import { t } from '@lingui/core/macro'
import { readFailure } from '../api/failure.ts'
import { ErrorAlert } from './placeholders.tsx'

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
