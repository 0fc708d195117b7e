import { useQuery } from '@tanstack/react-query'
import type { View, ViewFilters } from '../../../../../contracts/dashboard/view.ts'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'
import { type MessageFilters, noFilters } from '../message-filters.ts'

export function viewsKey(accountId: string) {
  return ['views', accountId]
}

/** The views that the user saved in this account, by name. */
export function useViews(): View[] | undefined {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: viewsKey(accountId),
    queryFn: ({ signal }) => api.view.list.query({ accountId }, { signal }),
    staleTime: 60_000,
  })
  return data?.items.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
}

export function toViewFilters({ range, from, until, status, failure, parts, ...texts }: MessageFilters): ViewFilters {
  const given = Object.entries(texts).filter(([, text]) => text !== '')
  return {
    ...Object.fromEntries(given),
    ...(status !== '' && { status }),
    ...(failure !== '' && { failure }),
    ...(parts !== '' && { parts }),
    ...(range !== 'any' && { range }),
    ...(range === 'custom' && from !== '' && { from }),
    ...(range === 'custom' && until !== '' && { until }),
  }
}

export function fromViewFilters(filters: ViewFilters): MessageFilters {
  return { ...noFilters, ...filters }
}

/** The view whose filters equal the current ones. */
export function findApplied(views: readonly View[], filters: MessageFilters): View | undefined {
  const current = describe(toViewFilters(filters))
  return views.find((view) => describe(view.filters) === current)
}

function describe(filters: ViewFilters): string {
  return JSON.stringify(Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
