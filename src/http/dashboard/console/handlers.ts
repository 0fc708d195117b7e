import type { DashboardContracts } from '../../../../contracts/dashboard/index.ts'
import { createAccount } from '../../../accounts/account.ts'
import { resumeAccount, suspendAccount } from '../../../accounts/suspend.ts'
import { appendAuditEntry } from '../../../users/audit/append.ts'
import { inviteMember } from '../../../users/invite-member.ts'
import { closeView, openView } from '../../../users/operators.ts'
import type { HandlersOf } from '../../api/procedures.ts'
import type { DashboardCall } from '../authorize.ts'
import { listConsoleAccounts } from './accounts.ts'
import { listSlowEndpoints, readServerFacts } from './server-facts.ts'

/** What operators do in the console. The command line calls the same functions. */
export const operatorHandlers: HandlersOf<DashboardContracts['operator'], DashboardCall> = {
  account: {
    list: (deps, _call, input) => listConsoleAccounts(deps, input),
    create: async (deps, call, { name, ownerEmail }) => {
      const { email: who } = call.person()
      const account = await createAccount(deps, { name })
      const { accountId } = account
      await appendAuditEntry(deps, {
        accountId,
        id: deps.newId('aud'),
        who,
        what: `created the account as an operator of this server${ownerEmail === undefined ? '' : `, and invited ${ownerEmail} as owner`}`,
        address: call.address,
        outcome: 'done',
      })
      const invitation =
        ownerEmail === undefined
          ? undefined
          : await inviteMember(deps, { accountId, invitedBy: who }, { email: ownerEmail, role: 'owner' })
      return {
        accountId,
        name: account.name,
        ...(invitation?.link !== undefined && { invitationLink: invitation.link }),
      }
    },
    suspend: (deps, _call, { accountId }) => suspendAccount(deps, accountId),
    resume: (deps, _call, { accountId }) => resumeAccount(deps, accountId),
    view: (deps, call, { accountId }) => openView(deps.db, call.person(), accountId),
    closeView: async ({ db }, call, { accountId }) => {
      await closeView(db, call.person().sessionId, accountId)
      return { closed: true }
    },
  },
  server: {
    get: (deps) => readServerFacts(deps),
    slowEndpoints: async ({ db }) => ({ items: await listSlowEndpoints(db) }),
  },
}
