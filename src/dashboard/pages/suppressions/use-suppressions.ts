import { useQuery } from '@tanstack/react-query'
import { erasedRecipient } from '../../../../contracts/fields.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { toRecipientField } from '../../ui/phone-number.ts'

/** The query key of the list; a search appends its number. */
export function suppressionsKey(accountId: string) {
  return ['suppressions', accountId] as const
}

export function stoppedCategoriesKey(accountId: string) {
  return ['suppression-settings', accountId] as const
}

/** The template categories that suppressed recipients do not receive. */
export function useStoppedCategories() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: stoppedCategoriesKey(accountId),
    queryFn: () => api.suppression.settings.query({ accountId }),
  })
}

/** The entry of one recipient; null if there is none. Undefined while loading, and for an erased number. */
export function useSuppression(to: string) {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: [...suppressionsKey(accountId), 'one', to],
    queryFn: () => api.suppression.list.query({ accountId, ...toRecipientField(to), limit: 1 }),
    select: ({ items }) => items[0] ?? null,
    enabled: to !== erasedRecipient,
  })
  return data
}
