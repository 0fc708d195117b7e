import type { SessionProcedure } from '../../../contracts/procedure.ts'
import type { ServedProcedure } from '../api/procedures.ts'
import type { DashboardCall } from '../dashboard/authorize.ts'
import { type CallBudget, createCallBudget, type Period } from './call-budget.ts'

const postsPer = (unit: 'minute' | 'hour') => (limit: number) =>
  `This account may send ${limit} tests to its chat and endpoints per ${unit}`
const emailsPer = (unit: 'minute' | 'hour') => (limit: number) =>
  `You may test or change your alert emails ${limit} times per ${unit}`

/**
 * Limits the tests that users send and the changes of alert emails, per node. Checked before the audit log, so that a
 * flood does not fill that either. Each member has their own budget for emails, so that a viewer cannot use up that of
 * others.
 */
export function limitTests({ perMinute = 10, perHour = 30 } = {}) {
  const createBudget = (describe: typeof postsPer): CallBudget => {
    const minute: Period = { milliseconds: 60_000, describe: describe('minute') }
    const hour: Period = { milliseconds: 3_600_000, describe: describe('hour') }
    const [spendOfMinute, spendOfHour] = [
      createCallBudget(perMinute, undefined, minute),
      createCallBudget(perHour, undefined, hour),
    ]
    return (key) => {
      spendOfMinute(key)
      spendOfHour(key)
    }
  }
  const spendPost = createBudget(postsPer)
  const spendEmail = createBudget(emailsPer)
  return <P extends SessionProcedure, Call extends DashboardCall>(
    procedure: ServedProcedure<P, Call>,
  ): ServedProcedure<P, Call> => {
    const { tests } = procedure.contract
    if (tests === undefined) return procedure
    const perform: typeof procedure.perform = async (deps, call, input) => {
      const { accountId = '' } = call
      if (tests === 'post') spendPost(accountId)
      else spendEmail(`${accountId} ${call.user().userId}`)
      return procedure.perform(deps, call, input)
    }
    return { ...procedure, perform }
  }
}
