import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'

/** The number of matching messages. */
export function countQuery(accountId: string, filters: MessageFilters) {
  return queryOptions({
    queryKey: ['messages', accountId, 'count', filters],
    queryFn: ({ signal }) => api.message.count.query({ accountId, ...toListInput(filters, new Date()) }, { signal }),
  })
}
