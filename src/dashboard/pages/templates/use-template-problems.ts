import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** WhatsApp judges templates over hours. */
const refreshMilliseconds = 60_000

/** The templates that cannot be sent any more, and those that may soon not be. */
export function useTemplateProblems(accountId: string | undefined) {
  return useQuery({
    queryKey: ['templates', accountId, 'problems'],
    queryFn: ({ signal }) => api.template.problems.query({ accountId: accountId ?? '' }, { signal }),
    enabled: accountId !== undefined,
    refetchInterval: refreshMilliseconds,
  })
}
