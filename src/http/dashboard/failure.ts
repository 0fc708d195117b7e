import { TRPCError } from '@trpc/server'
import { SettingsError, type SettingsErrorData, settingsErrors } from '../../../contracts/dashboard/errors.ts'
import { type ErrorStatus, ServiceError } from '../../../contracts/errors.ts'
import { OperatorError } from '../../accounts/operator-error.ts'
import type { Deps } from '../../deps.ts'
import { statusOf, toServiceError } from '../api/errors.ts'
import { fromTrpcError } from '../api/trpc.ts'

export interface Failure extends SettingsErrorData {
  message: string
  httpStatus: ErrorStatus
}

/** Whatever was thrown, as the dashboard shows it. What is not ours is logged, and goes no further. */
export function describeFailure(thrown: unknown, deps: Pick<Deps, 'log'>, requestId: string): Failure {
  if (thrown instanceof SettingsError) return describeSettingsError(thrown)
  if (thrown instanceof OperatorError) return describeSettingsError(toSettingsError(thrown))
  const error =
    thrown instanceof TRPCError
      ? fromTrpcError(thrown, deps, requestId)
      : toServiceError(thrown, { requestId, log: deps.log })
  return {
    code: error.code,
    message: error.message,
    httpStatus: statusOf(error),
    ...(error.code === 'VALIDATION_ERROR' && { fields: readFields(error) }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  }
}

function describeSettingsError({ code, message, fields }: SettingsError): Failure {
  return { code, message, httpStatus: settingsErrors[code].status, ...(fields && { fields }) }
}

/** What an operator cannot have, an owner cannot have either. */
function toSettingsError({ message, missing, field }: OperatorError): SettingsError {
  if (missing) return new SettingsError('NOT_FOUND', message)
  if (field !== undefined) return new SettingsError('VALIDATION_ERROR', message, { [field]: message })
  return new SettingsError('SETTING_REFUSED', message)
}

/** The handlers of the API name the field before the colon. */
function readFields({ message }: ServiceError): Record<string, string> {
  const [, field, problem] = /^([\w.]+): (.+)$/s.exec(message) ?? []
  return field === undefined || problem === undefined ? {} : { [field]: problem }
}
