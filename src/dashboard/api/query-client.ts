import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isWorthRetrying, readFailure } from './failure.ts'

const maxRetries = 2

/** Any call can find the session expired, so all of them are handled here. */
export function createQueryClient({ onSignInRequired }: { onSignInRequired: () => void }): QueryClient {
  const onError = (error: unknown) => {
    if (readFailure(error).code === 'SIGN_IN_REQUIRED') onSignInRequired()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < maxRetries && isWorthRetrying(error),
      },
      // Retrying could apply a change twice.
      mutations: { retry: false },
    },
  })
}
