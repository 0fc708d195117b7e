import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { settings } from '../../api/settings.ts'
import type { Period } from './period.ts'

/** A page in the background asks for nothing. */
const refreshMilliseconds = 10_000
const latestCount = 5

export function useOverview(accountId: string, days: Period) {
  return useQuery({
    queryKey: ['overview', accountId, days],
    queryFn: ({ signal }) => settings.overview.get.query({ accountId, days }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
}

/** Of the whole account, whatever period is looked at. */
export function useLatestMessages(accountId: string) {
  return useQuery({
    queryKey: ['messages', accountId, 'latest'],
    queryFn: async ({ signal }) =>
      (await settings.message.list.query({ accountId, limit: latestCount }, { signal })).items,
    refetchInterval: refreshMilliseconds,
  })
}

export type LatestMessagesQuery = ReturnType<typeof useLatestMessages>
