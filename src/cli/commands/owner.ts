import { type Role, roles } from '../../../contracts/procedure.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { removeOwner, resetPassword } from '../../users/change-member.ts'
import { inviteOwner, type IssuedInvitation } from '../../users/invitation.ts'
import { findMembers } from '../../users/store.ts'
import { type Answer, dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

const email = { value: 'EMAIL', help: 'E-mail address of the person', required: true } as const

export const ownerInvite = dataCommand({
  name: 'owner invite',
  summary: 'Let a person into the dashboard of an account: prints a link, valid once and for a day',
  args: ['ACC'],
  options: {
    email,
    role: {
      value: roles.join('|'),
      help: 'owner: may change everything; viewer: may look. owner if not given',
      choices: roles,
    },
  },
  notes: [
    'Send the link to the person yourself: this server sends no e-mail. Inviting somebody who has a role in the\naccount already changes it. The link begins with WAYBILL_PUBLIC_URL.',
  ],
  examples: [
    'waybill owner invite acc_… --email ada@example.com',
    'waybill owner invite acc_… --email bob@example.com --role viewer',
  ],
  audit: ({ options }) => `invited ${options.email} as ${options.role ?? 'owner'}`,
  run: async (deps, { args: [accountId], options }) => {
    // `choices` lets nothing else through.
    const role = (options.role ?? 'owner') as Role
    const invitation = await inviteOwner(deps, accountId, { email: options.email, role })
    return showLink(deps, invitation, `${invitation.email} becomes ${role} of ${accountId} with this link`)
  },
})

export const ownerList = dataCommand({
  name: 'owner list',
  summary: 'List the people who can sign in to the dashboard of an account',
  args: ['ACC'],
  options: {},
  examples: ['waybill owner list acc_…', 'waybill owner list acc_… --json'],
  run: async ({ db }, { args: [accountId] }) => {
    await requireAccount(db, accountId)
    const items = await findMembers(db, accountId)
    return {
      json: { items },
      text:
        items.length === 0
          ? `Nobody can sign in to ${accountId}. Invite somebody: waybill owner invite ${accountId} --email EMAIL`
          : formatTable(
              ['EMAIL', 'NAME', 'ROLE'],
              items.map((member) => [member.email, member.name, member.role]),
            ),
    }
  },
})

export const ownerRemove = dataCommand({
  name: 'owner remove',
  summary: 'Take a person out of an account, and end their sessions',
  args: ['ACC'],
  options: { email },
  examples: ['waybill owner remove acc_… --email ada@example.com'],
  audit: ({ options }) => `removed ${options.email}`,
  run: async (deps, { args: [accountId], options }) => {
    await removeOwner(deps, accountId, options.email)
    return {
      json: { accountId, email: options.email, removed: true },
      text: `${options.email} can no longer see ${accountId}, and is signed out.`,
    }
  },
})

export const ownerResetPassword = dataCommand({
  name: 'owner reset-password',
  summary: 'Forget the password and the authenticator app of a person: prints a link for a new password',
  args: ['ACC'],
  options: { email },
  notes: ['It counts for all accounts of the person, and ends their sessions. The link is valid once and for a day.'],
  examples: ['waybill owner reset-password acc_… --email ada@example.com'],
  audit: ({ options }) => `reset the password of ${options.email}`,
  run: async (deps, { args: [accountId], options }) => {
    const invitation = await resetPassword(deps, accountId, options.email)
    return showLink(deps, invitation, `${invitation.email} is signed out, and chooses a new password with this link`)
  },
})

function showLink(
  { publicUrl }: Pick<Deps, 'publicUrl'>,
  { email, role, path, expiresAt }: IssuedInvitation,
  what: string,
): Answer {
  const url = new URL(path, publicUrl).href
  return {
    json: { email, role, url, expiresAt },
    text: `${url}\n\n${what}, once, until ${expiresAt}.`,
  }
}
