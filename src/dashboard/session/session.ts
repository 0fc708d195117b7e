import { msg } from '@lingui/core/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { useNavigate } from 'react-router'
import { api } from '../api/client.ts'
import { isRetryable, readFailure } from '../api/failure.ts'
import { notifyFailure } from '../api/use-change.ts'
import { signOut } from './sign-in.ts'

type Session = Awaited<ReturnType<typeof api.session.get.query>>

const retryMilliseconds = 5_000

export const sessionKey = ['session'] as const

export function useSessionQuery() {
  return useQuery({
    queryKey: sessionKey,
    queryFn: () => api.session.get.query({}),
    staleTime: 60_000,
    // Retry until the server is available.
    refetchInterval: ({ state: { data, error } }) =>
      data === undefined && error !== null && isRetryable(error) ? retryMilliseconds : false,
  })
}

/** The signed-in user on pages that need no session; null if nobody is signed in. */
export function useOptionalSession() {
  return useQuery({
    queryKey: ['optional-session'],
    queryFn: async (): Promise<Session | null> => {
      try {
        return await api.session.get.query({})
      } catch (error) {
        if (readFailure(error).code === 'SIGN_IN_REQUIRED') return null
        throw error
      }
    },
  })
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The signed-in user and their accounts. */
export function useUser(): Session {
  const session = use(SessionContext)
  if (!session) throw new Error('useUser is for pages within the signed-in layout')
  return session
}

type Account = Session['accounts'][number] & {
  /** False for viewers. The server also enforces it. */
  canChange: boolean
}

export const AccountContext = createContext<Account | undefined>(undefined)

/** The account in the URL. */
export function useAccount(): Account {
  const account = use(AccountContext)
  if (!account) throw new Error('useAccount is for pages below /:accountId')
  return account
}

export const viewersHint = msg`Viewers have read-only access`

/** Ends the session and clears cached account data. */
export function useSignOut(): (to?: string) => Promise<void> {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return async (to = '/sign-in') => {
    try {
      await signOut()
    } catch (error) {
      notifyFailure(error)
      return
    }
    await navigate(to)
    queryClient.clear()
  }
}
