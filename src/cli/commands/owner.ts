import { ServiceError } from '../../../contracts/errors.ts'
import { type Role, roles } from '../../../contracts/procedure.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { removeUser, resetPassword } from '../../users/change-member.ts'
import { inviteUser, type IssuedInvitation } from '../../users/invitation.ts'
import { mailInvitation } from '../../users/invite-member.ts'
import { findMembers } from '../../users/store.ts'
import { type CommandResult, dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

const email = { value: 'EMAIL', help: 'Email address of the user', required: true } as const

export const ownerInvite = dataCommand({
  name: 'owner invite',
  alias: 'member invite',
  summary: 'Invite a user to the dashboard of an account; prints a one-time link, valid for a day',
  args: ['ACC'],
  options: {
    email,
    role: {
      value: roles.join('|'),
      help: 'owner (default): full access; viewer: read only',
      choices: roles,
    },
    send: { help: 'Also send the link by email; requires SMTP_URL' },
  },
  notes: [
    'Without --send, pass the link on yourself. Inviting an existing member changes their role.\nThe link starts with WAYBILL_PUBLIC_URL.',
  ],
  examples: [
    'waybill owner invite acc_… --email ada@example.com',
    'waybill owner invite acc_… --email bob@example.com --role viewer --send',
  ],
  audit: ({ options }) => `invited ${options.email} as ${options.role ?? 'owner'}`,
  run: async (deps, { args: [accountId], options }) => {
    // The syntax accepts only these choices.
    const role = (options.role ?? 'owner') as Role
    if (options.send && !deps.mail)
      throw new ServiceError('SETTING_REFUSED', '--send needs an SMTP server: set SMTP_URL.')
    const invitation = await inviteUser(deps, accountId, { email: options.email, role })
    if (options.send) {
      await mailInvitation(deps, accountId, { issued: invitation, invitedBy: undefined })
      deps.announcements.announce('emails')
    }
    const sent = options.send ? 'It is also on its way by email. ' : ''
    return showLink(deps, invitation, `${sent}With this link, ${invitation.email} can join ${accountId} as ${role}`)
  },
})

export const ownerList = dataCommand({
  name: 'owner list',
  alias: 'member list',
  summary: 'List the users who can sign in to the dashboard of an account',
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
          ? `No users can sign in to ${accountId}. Invite one: waybill owner invite ${accountId} --email EMAIL`
          : formatTable(
              ['EMAIL', 'NAME', 'ROLE'],
              items.map((member) => [member.email, member.name, member.role]),
            ),
    }
  },
})

export const ownerRemove = dataCommand({
  name: 'owner remove',
  alias: 'member remove',
  summary: 'Remove a user from an account and end their sessions',
  args: ['ACC'],
  options: { email },
  examples: ['waybill owner remove acc_… --email ada@example.com'],
  audit: ({ options }) => `removed ${options.email}`,
  run: async (deps, { args: [accountId], options }) => {
    await removeUser(deps, accountId, options.email)
    return {
      json: { accountId, email: options.email, removed: true },
      text: `Removed ${options.email} from ${accountId} and ended their sessions.`,
    }
  },
})

export const ownerResetPassword = dataCommand({
  name: 'owner reset-password',
  alias: 'member reset-password',
  summary: 'Reset the password and authenticator app of a user; prints a link to set a new password',
  args: ['ACC'],
  options: { email },
  notes: [
    'Applies to all accounts of the user and ends their sessions. The link works once and is valid for a day.',
    'Also removes the link to their identity at the OpenID provider. Their next sign-in with it creates a new one.',
  ],
  examples: ['waybill owner reset-password acc_… --email ada@example.com'],
  audit: ({ options }) => `reset the password of ${options.email}`,
  run: async (deps, { args: [accountId], options }) => {
    const invitation = await resetPassword(deps, accountId, options.email)
    return showLink(deps, invitation, `${invitation.email} is signed out. With this link they can set a new password`)
  },
})

function showLink(
  { publicUrl }: Pick<Deps, 'publicUrl'>,
  { email, role, path, expiresAt }: IssuedInvitation,
  description: string,
): CommandResult {
  const url = new URL(path, publicUrl).href
  return {
    json: { email, role, url, expiresAt },
    text: `${url}\n\n${description}. It works once and expires at ${expiresAt}.`,
    ifLost: 'run the same command again to make another link.',
  }
}
