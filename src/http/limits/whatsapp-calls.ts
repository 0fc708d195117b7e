import type { contracts } from '../../../contracts/index.ts'
import type { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import type { Procedure } from '../../../contracts/procedure.ts'
import type { ProcedureCall, ServedProcedure } from '../api/procedures.ts'
import { createCallBudget, creationsPerHour } from './call-budget.ts'

/** Wraps a procedure so that it counts towards the call budget of its account, if it calls WhatsApp. */
export type LimitCalls = <P extends Procedure, Call extends ProcedureCall>(
  procedure: ServedProcedure<P, Call>,
) => ServedProcedure<P, Call>

type Settings = (typeof dashboardContracts)['settings']

/** Procedures that call WhatsApp. Each makes several calls. */
const callsWhatsApp: ReadonlySet<string> = new Set([
  'settings.template.uploadSample',
  ...(
    [
      'add',
      'inspectToken',
      'subscribe',
      'configureCallback',
      'register',
      'check',
      'test',
      'replaceSecrets',
    ] satisfies (keyof Settings['whatsAppAccount'])[]
  ).map((name) => `settings.whatsAppAccount.${name}`),
  ...(
    ['create', 'update', 'delete', 'duplicate'] satisfies (keyof Settings['template'] &
      keyof (typeof contracts)['template'])[]
  ).flatMap((name) => [`template.${name}`, `settings.template.${name}`]),
  `settings.template.${'sync' satisfies keyof Settings['template']}`,
])

const createsTemplates: ReadonlySet<string> = new Set(
  ['create', 'duplicate'].flatMap((name) => [`template.${name}`, `settings.template.${name}`]),
)

/** API keys and users of an account share one budget. It is checked before the audit log, so that a flood does not fill that either. */
export function limitCallsOfWhatsApp({ perMinute = 30, creations = 100 } = {}): LimitCalls {
  const spend = createCallBudget(perMinute)
  const spendCreation = createCallBudget(creations, undefined, creationsPerHour)
  return (procedure) => {
    if (!callsWhatsApp.has(procedure.name)) return procedure
    const perform: typeof procedure.perform = async (deps, call, input) => {
      const { accountId } = call as ProcedureCall
      if (accountId !== undefined) {
        spend(accountId)
        if (createsTemplates.has(procedure.name)) spendCreation(accountId)
      }
      return procedure.perform(deps, call, input)
    }
    return { ...procedure, perform }
  }
}
