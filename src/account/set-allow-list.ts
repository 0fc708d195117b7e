import { normalizeAllowListEntry } from '../auth/ip-allow-list.ts'
import type { Deps } from '../deps.ts'
import { noSuchAccount } from './account.ts'
import { OperatorError } from './operator-error.ts'
import { changeAccount } from './store.ts'

/** Replaces the whole list. An empty one lets every address call (spec, Authentication, 6). */
export async function setAllowList(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  entries: string[],
): Promise<{ allowList: string[] }> {
  const allowList = [...new Set(entries.map(parseEntry))]
  if (!(await changeAccount(deps.db, accountId, { allow_list: allowList }))) throw noSuchAccount(accountId)
  return { allowList }
}

function parseEntry(text: string): string {
  const entry = normalizeAllowListEntry(text)
  if (entry === undefined)
    throw new OperatorError(
      `${JSON.stringify(text)} is neither an IP address nor a CIDR range, such as 192.0.2.10, 192.0.2.0/24 or 2001:db8::/32. The allow-list is unchanged.`,
      { field: 'allowList' },
    )
  return entry
}
