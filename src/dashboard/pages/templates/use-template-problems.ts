import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** Slow, because WhatsApp changes template ratings over hours. */
const refreshMilliseconds = 60_000

/** Templates that can no longer be sent, and those that may soon be stopped. */
export function useTemplateProblems(accountId: string | undefined) {
  return useQuery({
    queryKey: ['templates', accountId, 'problems'],
    queryFn: ({ signal }) => api.template.problems.query({ accountId: accountId ?? '' }, { signal }),
    enabled: accountId !== undefined,
    refetchInterval: refreshMilliseconds,
  })
}
