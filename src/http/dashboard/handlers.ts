import { withFacts } from '../../../contracts/facts/fact.ts'
import type { DashboardContracts } from '../../../contracts/dashboard/index.ts'
import { removeMember, setMemberRole } from '../../users/change-member.ts'
import { acceptInvitation, joinAccount, readInvitation } from '../../users/invitation.ts'
import { inviteMember, listInvitations, revokeInvitation } from '../../users/invite-member.ts'
import { requestPasswordReset, resetPassword } from '../../users/password-reset.ts'
import { listSessions, revokeOtherSessions, revokeSession } from '../../users/sign-in/sessions.ts'
import { findMembers, findMemberships, hasPassword } from '../../users/store.ts'
import { groupOf } from '../../whatsapp/simulator/messages/recipient-groups.ts'
import { sandboxRecipients } from '../../whatsapp/simulator/messages/recipients.ts'
import { findAccountViews, readOperatorAccess } from '../../users/operators.ts'
import type { HandlersOf } from '../../pipeline/procedures.ts'
import type { DashboardCall } from './authorize.ts'
import { consoleHandlers } from './console.ts'
import { settingsHandlers } from './settings-handlers.ts'

type DashboardHandlers<Tree> = HandlersOf<Tree, DashboardCall>

/** Sessions, sign-in and invitations. */
const signInHandlers: DashboardHandlers<Pick<DashboardContracts['settings'], 'session' | 'password' | 'invitation'>> = {
  session: {
    get: async ({ db }, call) => {
      const { userId, sessionId, name, email, twoFactor } = call.user()
      const operator = await readOperatorAccess(db, call.user())
      const memberships = await findMemberships(db, userId)
      const isMember = new Set(memberships.map(({ accountId }) => accountId))
      const views = operator === 'granted' ? await findAccountViews(db, { sessionId }) : []
      return {
        name,
        email,
        hasPassword: await hasPassword(db, userId),
        twoFactor,
        ...(operator && { operator }),
        accounts: [
          ...memberships.map(({ suspendedAt, ...membership }) => ({ ...membership, ...showSuspension(suspendedAt) })),
          ...views
            .filter(({ accountId }) => !isMember.has(accountId))
            .map(({ accountId, name, expiresAt, suspendedAt }) => ({
              accountId,
              name,
              role: 'viewer' as const,
              viewedUntil: expiresAt.toISOString(),
              ...showSuspension(suspendedAt),
            })),
        ],
        address: call.address,
        ...(call.sandbox && {
          sandbox: {
            recipients: sandboxRecipients.map((recipient) => ({
              to: recipient.to,
              ...withFacts({ does: recipient.does, group: groupOf(recipient) }),
            })),
          },
        }),
      }
    },
    options: ({ mail }, { oidc, sandbox }) =>
      Promise.resolve({
        ...(oidc && { organisation: new URL(oidc.issuer).host }),
        ...(mail && { passwordReset: 'email' as const }),
        ...(sandbox && { sandbox: true as const }),
      }),
    list: async (deps, call) => ({ items: await listSessions(deps, call.user()) }),
    revoke: async (deps, call, { sessionId }) => {
      await revokeSession(deps, call.user(), { sessionId, address: call.address })
      return { revoked: true }
    },
    revokeOthers: async (deps, call) => ({ revoked: await revokeOtherSessions(deps, call.user(), call.address) }),
  },
  password: {
    requestReset: async (deps, call, input) => {
      call.runInBackground(await requestPasswordReset(deps, call, input))
      return {}
    },
    reset: (deps, call, input) => resetPassword(deps, call, input),
  },
  invitation: {
    get: (deps, _call, { token }) => readInvitation(deps, token),
    accept: (deps, authServices, input) => acceptInvitation(deps, authServices, input),
    join: (deps, call, { token }) => joinAccount(deps, { ...call.user(), address: call.address }, token),
  },
}

function showSuspension(suspendedAt: Date | null) {
  return suspendedAt === null ? {} : { suspendedAt: suspendedAt.toISOString() }
}

const memberHandlers: DashboardHandlers<DashboardContracts['settings']['member']> = {
  list: async ({ db }, _call, { accountId }) => ({ items: await findMembers(db, accountId) }),
  setRole: (deps, call, { accountId, ...change }) =>
    setMemberRole(deps, { accountId, userId: call.user().userId }, change),
  remove: async (deps, call, { accountId, email }) => {
    await removeMember(deps, { accountId, userId: call.user().userId }, email)
    return { removed: true }
  },
  invite: (deps, call, { accountId, ...invitation }) =>
    inviteMember(deps, { accountId, invitedBy: call.user().email }, invitation),
  invitations: async (deps, _call, { accountId }) => ({ items: await listInvitations(deps, accountId) }),
  revokeInvitation: async (deps, _call, { accountId, email }) => {
    await revokeInvitation(deps, accountId, email)
    return { revoked: true }
  },
}

/** The handler of each dashboard procedure. A contract without a handler does not compile. */
export const dashboardHandlers: DashboardHandlers<DashboardContracts> = {
  settings: {
    ...signInHandlers,
    member: memberHandlers,
    ...settingsHandlers,
  },
  operator: consoleHandlers,
}
