import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isRetryable, readFailure } from './failure.ts'

const maxRetries = 2

function requiresSignIn(error: unknown): boolean {
  return readFailure(error).code === 'SIGN_IN_REQUIRED'
}

function isRetried(failures: number, error: unknown): boolean {
  // A change of password or authenticator app replaces the session. A request that was under way was sent with the former.
  if (requiresSignIn(error)) return failures === 0
  return failures < maxRetries && isRetryable(error)
}

/** Any call can find the session expired, so all of them are handled here. */
export function createQueryClient({ onSignInRequired }: { onSignInRequired: () => void }): QueryClient {
  const onError = (error: unknown) => {
    if (requiresSignIn(error)) onSignInRequired()
  }
  const queryCache = new QueryCache({ onError })
  keepErrors(queryCache)
  return new QueryClient({
    queryCache,
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A server on the same machine or network is reachable without internet access.
        networkMode: 'always',
        retry: isRetried,
        retryDelay: (failures, error) => (requiresSignIn(error) ? 0 : 1_000 * 2 ** failures),
      },
      // Retrying could apply a change twice.
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}

/**
 * Keeps the error of a query without data while it is refetched. Otherwise the query would be pending during each attempt,
 * and a page that refreshes would alternate between the error and the skeleton.
 */
function keepErrors(queryCache: QueryCache): void {
  const errors = new WeakMap<object, unknown>()
  queryCache.subscribe((event) => {
    if (event.type !== 'updated') return
    const { query, action } = event
    if (action.type === 'error') errors.set(query, action.error)
    if (action.type === 'success') errors.delete(query)
    if (action.type === 'fetch' && query.state.status === 'pending' && errors.has(query))
      query.setState({ status: 'error', error: errors.get(query) })
  })
}
