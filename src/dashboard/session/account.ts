import { createContext, use } from 'react'
import type { Role } from '../../../contracts/procedure.ts'

export interface Account {
  accountId: string
  name: string
  role: Role
  /** Viewers see everything and change nothing; the server refuses them anyway. */
  canChange: boolean
}

export const AccountContext = createContext<Account | undefined>(undefined)

/** The account that the address names. */
export function useAccount(): Account {
  const account = use(AccountContext)
  if (!account) throw new Error('useAccount is for pages below /:accountId')
  return account
}

export const viewersHint = 'Viewers cannot change anything'
