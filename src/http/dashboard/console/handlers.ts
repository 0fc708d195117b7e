import type { DashboardContracts } from '../../../../contracts/dashboard/index.ts'
import { resumeAccount, suspendAccount } from '../../../accounts/suspend.ts'
import { closeView, openView, recordList } from '../../../users/operators.ts'
import type { HandlersOf } from '../../../pipeline/procedures.ts'
import type { DashboardCall } from '../authorize.ts'
import { listConsoleAccounts } from './accounts.ts'
import { createAccountWithOwner } from './create-account.ts'
import { listSlowEndpoints, readServerFacts } from './server-facts.ts'

/** The operator console's handlers. The command line calls the same functions. */
export const operatorHandlers: HandlersOf<DashboardContracts['operator'], DashboardCall> = {
  account: {
    list: async (deps, call, input) => {
      await recordList(deps, { ...call.user(), address: call.address })
      return listConsoleAccounts(deps, input)
    },
    create: (deps, call, input) => createAccountWithOwner(deps, { ...call.user(), address: call.address }, input),
    suspend: (deps, _call, { accountId }) => suspendAccount(deps, accountId),
    resume: (deps, _call, { accountId }) => resumeAccount(deps, accountId),
    view: (deps, call, { accountId }) => openView(deps.db, call.user(), accountId),
    closeView: async ({ db }, call, { accountId }) => {
      await closeView(db, call.user().sessionId, accountId)
      return { closed: true }
    },
  },
  server: {
    get: (deps) => readServerFacts(deps),
    slowEndpoints: async ({ db }) => ({ items: await listSlowEndpoints(db) }),
  },
}
