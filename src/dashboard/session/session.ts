import { useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import type { Role } from '../../../contracts/dashboard/procedure.ts'
import { settings } from '../api/settings.ts'

type Session = Awaited<ReturnType<typeof settings.session.get.query>>

export const sessionKey = ['session'] as const

export function useSessionQuery() {
  return useQuery({ queryKey: sessionKey, queryFn: () => settings.session.get.query({}), staleTime: 60_000 })
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The person who is signed in, and their accounts: on every page that needs a session. */
export function useOwner(): Session {
  const session = use(SessionContext)
  if (!session) throw new Error('useOwner is for pages within the signed-in layout')
  return session
}

interface Account {
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

export const viewersHint = 'Viewers have read-only access'
