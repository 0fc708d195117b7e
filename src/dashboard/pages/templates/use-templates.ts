import { useQuery } from '@tanstack/react-query'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'

const pageSize = 100
/** A business has 250 templates, or 6,000 when Meta has verified it; so many are seldom looked through by eye. */
const maxPages = 20

export interface LoadedTemplates {
  items: OwnTemplate[]
  /** Absent when WhatsApp was never asked, or had none. */
  syncedAt: string | undefined
  /** There are more than were loaded. */
  isCut: boolean
}

export function templatesKey(accountId: string) {
  return ['templates', accountId] as const
}

/** All templates of a WhatsApp account, the default one when none is named. */
export function useTemplates(whatsAppAccountId: string | undefined) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...templatesKey(accountId), whatsAppAccountId ?? 'default'],
    queryFn: () => loadTemplates({ accountId, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) }),
  })
}

async function loadTemplates(of: { accountId: string; whatsAppAccountId?: string }): Promise<LoadedTemplates> {
  const items: OwnTemplate[] = []
  let syncedAt: string | undefined
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const answer = await settings.template.list.query({ ...of, limit: pageSize, ...(cursor && { cursor }) })
    items.push(...answer.items)
    syncedAt = answer.syncedAt
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  return { items, syncedAt, isCut: cursor !== undefined }
}
