import { TRPCError } from '@trpc/server'
import { type DashboardErrorData, ServiceError } from '../../../contracts/errors.ts'
import { OperatorError } from '../../accounts/operator-error.ts'
import type { Deps } from '../../deps.ts'
import { statusOf, toServiceError } from '../api/errors.ts'
import { fromTrpcError } from '../api/trpc.ts'

export interface Failure extends DashboardErrorData {
  message: string
}

/** Whatever was thrown, as the dashboard shows it. What is not ours is logged, and goes no further. */
export function describeFailure(thrown: unknown, deps: Pick<Deps, 'log'>, requestId: string): Failure {
  const error = describe(thrown, deps, requestId)
  return {
    code: error.code,
    message: error.message,
    httpStatus: statusOf(error),
    ...(error.code === 'VALIDATION_ERROR' && { fields: error.fields }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  }
}

function describe(thrown: unknown, deps: Pick<Deps, 'log'>, requestId: string): ServiceError {
  if (thrown instanceof OperatorError) return fromOperatorError(thrown)
  return thrown instanceof TRPCError
    ? fromTrpcError(thrown, deps, requestId)
    : toServiceError(thrown, { requestId, log: deps.log })
}

/** What an operator cannot have, an owner cannot have either. */
function fromOperatorError({ message, missing, field }: OperatorError): ServiceError {
  if (missing) return new ServiceError('NOT_FOUND', message)
  if (field !== undefined) return new ServiceError('VALIDATION_ERROR', message, { fields: { [field]: message } })
  return new ServiceError('SETTING_REFUSED', message)
}
