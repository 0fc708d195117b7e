import {
  grantOperator,
  inviteMember,
  listMembers,
  listOperators,
  removeMember,
  resetPassword,
  revokeOperator,
} from '../../../contracts/command-line/user.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import { contractCommand } from '../contract-command.ts'
import { formatTable } from '../help.ts'
import { waybill } from '../failure.ts'

const email = { value: 'EMAIL', help: 'Email address of the user' } as const

export const ownerCommands = [
  contractCommand(inviteMember, {
    name: 'owner invite',
    alias: 'member invite',
    summary: 'Invite a user to the dashboard of an account; prints a one-time link, valid for a day',
    args: { ACC: 'accountId' },
    options: {
      email,
      role: { value: 'owner|viewer', help: 'owner (default): full access; viewer: read only' },
      send: { help: 'Also send the link by email; requires SMTP_URL' },
    },
    notes: [
      'Without --send, pass the link on yourself. Inviting an existing member changes their role.\nThe link starts with WAYBILL_PUBLIC_URL.',
    ],
    examples: [
      'waybill owner invite acc_… --email ada@example.com',
      'waybill owner invite acc_… --email bob@example.com --role viewer --send',
    ],
    text: (link, { ACC }, { line }) => {
      const sent = line.options['send'] === true ? 'It is also on its way by email. ' : ''
      return showLink(link, `${sent}With this link, ${link.email} can join ${ACC} as ${link.role}`)
    },
    ifLost: () => repeat,
  }),
  contractCommand(listMembers, {
    name: 'owner list',
    alias: 'member list',
    summary: 'List the users who can sign in to the dashboard of an account, and those who are invited',
    args: { ACC: 'accountId' },
    examples: ['waybill owner list acc_…', 'waybill owner list acc_… --json'],
    text: ({ items, invitations }, { ACC }) =>
      items.length + invitations.length === 0
        ? `No users can sign in to ${ACC}. Invite one: ${waybill} owner invite ${ACC} --email EMAIL`
        : formatTable(
            ['EMAIL', 'NAME', 'ROLE'],
            [
              ...items.map(({ email, name, role }) => [email, name, role]),
              ...invitations.map(({ email, role, expiresAt }) => [email, `invited until ${expiresAt}`, role]),
            ],
          ),
  }),
  contractCommand(removeMember, {
    name: 'owner remove',
    alias: 'member remove',
    summary: 'Remove a user from an account and end their sessions',
    args: { ACC: 'accountId' },
    options: { email },
    examples: ['waybill owner remove acc_… --email ada@example.com'],
    run: async ({ call }, fields) => ({ email: String(fields['email']), ...(await call(removeMember, fields)) }),
    json: ({ email, removed }, { ACC }) => ({ accountId: ACC, email, removed }),
    text: ({ email }, { ACC }) => `Removed ${email} from ${ACC} and ended their sessions.`,
  }),
  contractCommand(resetPassword, {
    name: 'owner reset-password',
    alias: 'member reset-password',
    summary: 'Reset the password and authenticator app of a user; prints a link to set a new password',
    args: { ACC: 'accountId' },
    options: { email },
    notes: [
      'Applies to all accounts of the user and ends their sessions. The link works once and is valid for a day.',
      'Also removes the link to their identity at the OpenID provider. Their next sign-in with it creates a new one.',
    ],
    examples: ['waybill owner reset-password acc_… --email ada@example.com'],
    text: (link) => showLink(link, `${link.email} is signed out. With this link they can set a new password`),
    ifLost: () => repeat,
  }),
]

const repeat = 'run the same command again to make another link.'

function showLink({ url, expiresAt }: OutputOf<typeof resetPassword>, description: string): string {
  return `${url}\n\n${description}. It works once and expires at ${expiresAt}.`
}

export const operatorCommands = [
  contractCommand(grantOperator, {
    name: 'operator grant',
    summary: 'Let a user of the dashboard operate this server: its console shows all accounts',
    options: { email },
    notes: [
      'Only this command grants access. The console opens once the user has set up an authenticator app and signed in with its code.',
    ],
    examples: ['waybill operator grant --email ada@example.com'],
    text: ({ email, twoFactor }) => {
      const next = twoFactor ? 'sign in with a code of their authenticator app' : 'set up an authenticator app'
      return `${email} is an operator of this server. Next, they ${next}; then the console is in their user menu.`
    },
  }),
  contractCommand(revokeOperator, {
    name: 'operator revoke',
    summary: "Revoke a user's operator access to this server; takes effect immediately",
    options: { email },
    examples: ['waybill operator revoke --email ada@example.com'],
    text: ({ email }) => `${email} is no longer an operator of this server. Their accounts and sessions stay.`,
  }),
  contractCommand(listOperators, {
    name: 'operator list',
    summary: 'List the users who operate this server',
    examples: ['waybill operator list', 'waybill operator list --json'],
    text: ({ items }) =>
      items.length === 0
        ? `No operators. Grant access to a user: ${waybill} operator grant --email EMAIL`
        : formatTable(
            ['EMAIL', 'NAME', 'AUTHENTICATOR APP', 'SINCE'],
            items.map((one) => [one.email, one.name, one.twoFactor ? 'yes' : 'no', one.grantedAt]),
          ),
  }),
]
