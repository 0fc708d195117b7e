import { grantOperator, listOperators, revokeOperator } from '../../../contracts/operator/user.ts'
import { contractCommand } from '../contract-command.ts'
import { formatTable } from '../help.ts'
import { waybill } from '../program.ts'

const email = { value: 'EMAIL', help: 'Email address of the user' } as const

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
