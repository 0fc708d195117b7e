import { useQuery } from '@tanstack/react-query'
import { describeEndpointFailure, type EndpointFailure } from '../../../../contracts/dashboard/endpoint-failure.ts'
import { api } from '../../api/client.ts'
import { sayFact } from '../../language/facts.ts'
import { describeSince } from './statistics.ts'

const refreshMilliseconds = 5_000

/** The prefix of all query keys for endpoints. */
export function webhooksKey(accountId: string) {
  return ['webhooks', accountId]
}

export function useEndpoints(accountId: string, { refreshes = true } = {}) {
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'endpoints'],
    queryFn: ({ signal }) => api.webhook.list.query({ accountId }, { signal }),
    refetchInterval: refreshes && refreshMilliseconds,
  })
}

const activityRefreshMilliseconds = 15_000

/** The attempts of the last 24 hours at all endpoints. */
export function useActivity(accountId: string) {
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'activity'],
    queryFn: ({ signal }) => api.webhook.activity.query({ accountId }, { signal }),
    refetchInterval: activityRefreshMilliseconds,
  })
}

/** Why an endpoint fails, in one sentence. */
export function describeFailure(failure: EndpointFailure): string {
  return sayFact(describeEndpointFailure(failure, describeSince))
}
