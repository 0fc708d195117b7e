import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { notifyFailure } from '../api/use-change.ts'
import { signOut } from './sign-in.ts'

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
