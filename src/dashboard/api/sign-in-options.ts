import { useQuery } from '@tanstack/react-query'
import { settings } from './settings.ts'

/** Whether an organisation's own provider is there to sign in with; without an answer, as if there were none. */
export function useSignInOptions(): { organisation: string | undefined; isPending: boolean } {
  const { data, isPending } = useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => settings.session.options.query({}),
    // It is set up when the server starts.
    staleTime: Infinity,
  })
  return { organisation: data?.organisation, isPending }
}
