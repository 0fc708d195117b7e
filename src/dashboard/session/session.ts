import { useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { settings } from '../api/settings.ts'

export type Session = Awaited<ReturnType<typeof settings.session.get.query>>

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
