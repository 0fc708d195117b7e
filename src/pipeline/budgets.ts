import type { Fact } from '../../contracts/facts/fact.ts'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Budget } from '../../contracts/procedure.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { ProcedureCall } from './procedures.ts'

/** The budgets that limit how often something may be done, on each node. */
export type CountedBudget = Extract<Budget, 'checks' | 'creations' | 'tests' | 'emails' | 'exports'>

/** Throws RATE_LIMIT_EXCEEDED if the caller has used up a budget. */
export type SpendBudget = (budget: CountedBudget, call: Pick<ProcedureCall, 'accountId' | 'actor'>) => void

interface Rule {
  calls: number
  milliseconds: number
  /** Who may do what, such as `This account may create 100 templates per hour`. */
  describe: (params: { calls: number }) => Fact
  /** Whether each user of an account has a budget of their own, so that a viewer cannot use up that of others. */
  ofUser?: boolean
}

const minute = 60_000
const hour = 3_600_000

const facts = errorFactsWithValues.budget

/** WhatsApp limits management calls per app, which the accounts of an installation often share. */
const checks: Rule = {
  calls: 30,
  milliseconds: minute,
  describe: facts.checksPerMinute,
}

/** API keys and users of an account share its budgets. */
export const budgetRules: Readonly<Record<CountedBudget, readonly Rule[]>> = {
  checks: [checks],
  creations: [
    checks,
    // WhatsApp's limit, per hour and WhatsApp Business Account (reference 2, section 3.3).
    { calls: 100, milliseconds: hour, describe: facts.templatesPerHour },
  ],
  tests: [
    { calls: 10, milliseconds: minute, describe: facts.testsPerMinute },
    { calls: 30, milliseconds: hour, describe: facts.testsPerHour },
  ],
  emails: [
    { calls: 10, milliseconds: minute, describe: facts.emailsPerMinute, ofUser: true },
    { calls: 30, milliseconds: hour, describe: facts.emailsPerHour, ofUser: true },
  ],
  exports: [{ calls: 30, milliseconds: hour, describe: facts.exportsPerHour, ofUser: true }],
}

const maxKeys = 10_000

/** Checked before the audit log, so that a flood does not fill that either. */
export function createBudgets(rules = budgetRules, clock: () => number = () => performance.now()): SpendBudget {
  const windows = new Map<Rule, BoundedMap<string, { endsAt: number; calls: number }>>()

  function spend(rule: Rule, key: string): void {
    const { calls, milliseconds, describe } = rule
    const ofRule = windows.get(rule) ?? new BoundedMap<string, { endsAt: number; calls: number }>(maxKeys)
    windows.set(rule, ofRule)
    const now = clock()
    const current = ofRule.get(key)
    const window = current && current.endsAt > now ? current : { endsAt: now + milliseconds, calls: 0 }
    ofRule.set(key, window)
    window.calls++
    if (window.calls <= calls) return
    const seconds = Math.ceil((window.endsAt - now) / 1000)
    const said = errorFactsWithValues.tooOften({ rule: describe({ calls }), seconds })
    throw new ServiceError('RATE_LIMIT_EXCEEDED', said, { retryAfterSeconds: seconds })
  }

  return (budget, { accountId, actor }) => {
    if (accountId === undefined) return
    for (const rule of rules[budget]) spend(rule, rule.ofUser ? `${accountId} ${actor()}` : accountId)
  }
}
