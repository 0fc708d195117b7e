import type { Procedure } from '../../../contracts/procedure.ts'
import type { ProcedureCall, ServedProcedure } from '../api/procedures.ts'
import { createCallBudget, creationsPerHour } from './call-budget.ts'

/** Wraps a procedure so that it counts towards the call budget of its account, if it calls WhatsApp. */
export type LimitCalls = <P extends Procedure, Call extends ProcedureCall>(
  procedure: ServedProcedure<P, Call>,
) => ServedProcedure<P, Call>

/** API keys and users of an account share one budget. It is checked before the audit log, so that a flood does not fill that either. */
export function limitCallsOfWhatsApp({ perMinute = 30, creations = 100 } = {}): LimitCalls {
  const spend = createCallBudget(perMinute)
  const spendCreation = createCallBudget(creations, undefined, creationsPerHour)
  return (procedure) => {
    const { callsWhatsApp } = procedure.contract
    if (callsWhatsApp === undefined) return procedure
    const perform: typeof procedure.perform = async (deps, call, input) => {
      const { accountId } = call as ProcedureCall
      if (accountId !== undefined) {
        spend(accountId)
        if (callsWhatsApp === 'creation') spendCreation(accountId)
      }
      return procedure.perform(deps, call, input)
    }
    return { ...procedure, perform }
  }
}
