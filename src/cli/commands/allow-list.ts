import { changes } from '../../../contracts/changes.ts'
import { setAllowList } from '../../accounts/ip-allow-list.ts'
import { dataCommand } from '../command.ts'

export const allowListSet = dataCommand({
  name: 'allow-list set',
  summary: 'Replace the IP allow-list of an account; without addresses, requests from any address are accepted',
  args: ['ACC'],
  rest: 'ADDRESS-OR-CIDR',
  options: {},
  notes: ['Behind a proxy, TRUST_PROXY determines the source address of a request.'],
  examples: ['waybill allow-list set acc_… 192.0.2.10 198.51.100.0/24 2001:db8::/32', 'waybill allow-list set acc_…'],
  audit: ({ rest }) => changes.setAllowList(rest),
  run: async (deps, { args: [accountId], rest }) => {
    const json = await setAllowList(deps, accountId, rest)
    const text =
      json.allowList.length === 0
        ? `${accountId} accepts requests from any address.`
        : `${accountId} accepts requests from:\n${json.allowList.map((entry) => `  ${entry}`).join('\n')}`
    return { json, text }
  },
})
