import { grantOperator, listOperators, revokeOperator } from '../../users/operators.ts'
import { dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

const email = { value: 'EMAIL', help: 'Email address of the user', required: true } as const

export const operatorGrant = dataCommand({
  name: 'operator grant',
  summary: 'Let a user of the dashboard operate this server: its console shows all accounts',
  args: [],
  options: { email },
  notes: [
    'Only this command grants access. The console opens once the user has set up an authenticator app and signed in with its code.',
  ],
  examples: ['waybill operator grant --email ada@example.com'],
  audit: 'by itself',
  run: async (deps, { options }) => {
    const operator = await grantOperator(deps, options)
    const next = operator.twoFactor ? 'sign in with a code of their authenticator app' : 'set up an authenticator app'
    return {
      json: operator,
      text: `${operator.email} is an operator of this server. Next, they ${next}; then the console is in their user menu.`,
    }
  },
})

export const operatorRevoke = dataCommand({
  name: 'operator revoke',
  summary: "Revoke a user's operator access to this server; takes effect immediately",
  args: [],
  options: { email },
  examples: ['waybill operator revoke --email ada@example.com'],
  audit: 'by itself',
  run: async (deps, { options }) => {
    await revokeOperator(deps, options)
    return {
      json: { email: options.email, revoked: true },
      text: `${options.email} is no longer an operator of this server. Their accounts and sessions stay.`,
    }
  },
})

export const operatorList = dataCommand({
  name: 'operator list',
  summary: 'List the users who operate this server',
  args: [],
  options: {},
  examples: ['waybill operator list', 'waybill operator list --json'],
  run: async (deps) => {
    const items = await listOperators(deps)
    return {
      json: { items },
      text:
        items.length === 0
          ? 'No operators. Grant access to a user: waybill operator grant --email EMAIL'
          : formatTable(
              ['EMAIL', 'NAME', 'AUTHENTICATOR APP', 'SINCE'],
              items.map((one) => [one.email, one.name, one.twoFactor ? 'yes' : 'no', one.grantedAt]),
            ),
    }
  },
})
