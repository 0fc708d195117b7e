import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { notifyFailure } from '../api/use-change.ts'
import { signOut } from './sign-in.ts'

/** Clears cached account data with the session. */
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
