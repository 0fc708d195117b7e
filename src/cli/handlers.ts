import type { Template } from '../../contracts/api/template.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { CommandContracts } from '../../contracts/command-line/index.ts'
import { createAccount, listAccounts, resumeAccount, suspendAccount, updateAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import type { SettingsCall } from '../http/dashboard/authorize.ts'
import { createDisplacementRecorder } from '../http/displacement.ts'
import { deleteMedia, getMedia } from '../media/media.ts'
import { dropContents } from '../messages/contents/contents.ts'
import { getRateCard, importRateCards, listRateCards, removeRateCard } from '../messages/costs/rate-cards.ts'
import { getMessage, listMessages } from '../messages/queries/read.ts'
import type { HandlersOf } from '../pipeline/procedures.ts'
import { listTemplates } from '../templates/list.ts'
import { removeMemberAsOperator, resetPassword } from '../users/change-member.ts'
import { inviteUser, type IssuedInvitation } from '../users/invitation.ts'
import { listInvitations, mailInvitation } from '../users/invite-member.ts'
import { grantOperator, listOperators, revokeOperator } from '../users/operators.ts'
import { findMembers } from '../users/store.ts'
import { addWhatsAppAccount } from '../whatsapp-accounts/add.ts'
import { submitTemplateFile } from './template-files/plan.ts'

type Handlers<Group extends keyof CommandContracts> = HandlersOf<CommandContracts[Group], SettingsCall>

const accountHandlers: Handlers<'account'> = {
  create: (deps, _call, input) => createAccount(deps, input),
  update: async (deps, _call, { accountId, api, templateChanges, mcp, ...changes }) => {
    const account = await updateAccount(deps, accountId, {
      ...changes,
      apiEnabled: api && api === 'enabled',
      templateChangesEnabled: templateChanges && templateChanges === 'enabled',
      mcpEnabled: mcp && mcp === 'enabled',
    })
    if (changes.messageContentsDays === null) await dropContents(deps, accountId)
    return account
  },
  list: async (deps) => ({ items: await listAccounts(deps) }),
  suspend: (deps, _call, { accountId }) => suspendAccount(deps, accountId),
  resume: (deps, _call, { accountId }) => resumeAccount(deps, accountId),
}

const memberHandlers: Handlers<'member'> = {
  list: async (deps, _call, { accountId }) => ({
    items: await findMembers(deps.db, accountId),
    invitations: await listInvitations(deps, accountId),
  }),
  invite: async (deps, _call, { accountId, email, role, send }) => {
    if (send && !deps.mail) throw new ServiceError('SETTING_REFUSED', '--send needs an SMTP server: set SMTP_URL.')
    // In one transaction: an invitation whose email cannot be queued must not replace an earlier one.
    const issued = await deps.db.transaction().execute(async (db) => {
      const invitation = await inviteUser({ ...deps, db }, accountId, { email, role })
      if (send) await mailInvitation({ ...deps, db }, accountId, { issued: invitation, invitedBy: undefined })
      return invitation
    })
    if (send) deps.notifications.notify('emails')
    return toLink(deps, issued)
  },
  remove: async (deps, _call, { accountId, email }) => {
    await removeMemberAsOperator(deps, accountId, email)
    return { removed: true }
  },
  resetPassword: async (deps, _call, { accountId, email }) => toLink(deps, await resetPassword(deps, accountId, email)),
}

function toLink({ publicUrl }: Pick<Deps, 'publicUrl'>, { path, ...issued }: IssuedInvitation) {
  return { ...issued, url: new URL(path, publicUrl).href }
}

const operatorHandlers: Handlers<'operator'> = {
  grant: (deps, _call, input) => grantOperator(deps, input),
  revoke: async (deps, _call, input) => {
    await revokeOperator(deps, input)
    return { ...input, revoked: true }
  },
  list: async (deps) => ({ items: await listOperators(deps) }),
}

const ratesHandlers: Handlers<'rates'> = {
  import: async (deps, _call, { text, replace }) => {
    const cards = await importRateCards(deps, text, { replace })
    return { imported: cards.map((card) => ({ ...card, markets: card.markets.length })) }
  },
  list: async (deps) => ({ items: await listRateCards(deps) }),
  get: (deps, _call, { validFrom }) => getRateCard(deps, validFrom),
  remove: async (deps, _call, { validFrom }) => {
    await removeRateCard(deps, validFrom)
    return { removed: validFrom }
  },
}

/** The handlers of the procedures that only the command line serves. */
export const commandHandlers: HandlersOf<CommandContracts, SettingsCall> = {
  account: accountHandlers,
  member: memberHandlers,
  operator: operatorHandlers,
  rates: ratesHandlers,
  media: {
    get: (deps, _call, { accountId, mediaId }) => getMedia(deps, { accountId }, { mediaId }),
    delete: (deps, _call, { accountId, mediaId }) => deleteMedia(deps, { accountId }, { mediaId }),
  },
  message: {
    get: (deps, _call, { accountId, messageId }) => getMessage(deps, { accountId }, { messageId }),
    list: (deps, _call, { accountId, ...filter }) => listMessages(deps, { accountId }, filter),
  },
  template: {
    list: async (deps, _call, { accountId, whatsAppAccountId, status }) => ({
      items: await listAllTemplates(deps, accountId, { status, accountId: whatsAppAccountId }),
    }),
    create: (deps, _call, { template, ...target }) => submitTemplateFile(deps, target, 'create', template),
    update: (deps, _call, { template, ...target }) => submitTemplateFile(deps, target, 'update', template),
  },
  whatsAppAccount: {
    add: (deps, _call, { accountId, ...input }) =>
      addWhatsAppAccount(deps, accountId, input, createDisplacementRecorder(deps)),
  },
}

const pageSize = 100

async function listAllTemplates(
  deps: Deps,
  accountId: string,
  filter: { status: string | undefined; accountId: string | undefined },
): Promise<Template[]> {
  const items: Template[] = []
  let cursor: string | undefined
  do {
    const page = await listTemplates(deps, { accountId }, { ...filter, cursor, limit: pageSize })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}
