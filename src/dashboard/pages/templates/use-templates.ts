import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { whatsAppAccountsKey } from '../whatsapp-accounts/use-whatsapp-accounts.ts'

const pageSize = 100
/** A business can have 250 templates, or 6,000 if Meta has verified it, which nobody browses. */
const maxPages = 20

interface LoadedTemplates {
  items: OwnTemplate[]
  /** Absent before the first sync, or if WhatsApp has no templates. */
  syncedAt: string | undefined
  /** Whether there are more templates than were loaded. */
  isCut: boolean
}

function templatesKey(accountId: string) {
  return ['templates', accountId] as const
}

/** All templates of a WhatsApp account; of the default account if none is given. */
export function useTemplates(whatsAppAccountId: string | undefined, options: { staleTime?: number } = {}) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...templatesKey(accountId), whatsAppAccountId ?? 'default'],
    // Refresh while a review is pending.
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === 'PENDING') ? 5_000 : false),
    ...options,
    queryFn: () => loadTemplates({ accountId, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) }),
  })
}

async function loadTemplates(of: { accountId: string; whatsAppAccountId?: string }): Promise<LoadedTemplates> {
  const items: OwnTemplate[] = []
  let syncedAt: string | undefined
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const page = await api.template.list.query({ ...of, limit: pageSize, ...(cursor && { cursor }) })
    items.push(...page.items)
    syncedAt = page.syncedAt
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  return { items, syncedAt, isCut: cursor !== undefined }
}

/** Slow, because WhatsApp changes template ratings over hours. */
const problemsRefreshMilliseconds = 60_000

/** Templates that can no longer be sent, and those that may soon be stopped. */
export function useTemplateProblems(accountId: string | undefined) {
  return useQuery({
    queryKey: [...templatesKey(accountId ?? ''), 'problems'],
    queryFn: ({ signal }) => api.template.problems.query({ accountId: accountId ?? '' }, { signal }),
    enabled: accountId !== undefined,
    refetchInterval: problemsRefreshMilliseconds,
  })
}

export type SyncResult = Awaited<ReturnType<typeof api.template.sync.mutate>>

interface Sync {
  done?: (result: SyncResult) => string
  onFailure?: (error: unknown) => void
}

/** Syncs the templates of all active WhatsApp accounts. */
export function useSync(outcome: Sync = {}) {
  const { accountId } = useAccount()
  return useChange<void, SyncResult>({
    change: () => api.template.sync.mutate({ accountId }),
    invalidates: [templatesKey(accountId), whatsAppAccountsKey(accountId)],
    ...outcome,
  })
}

export interface TemplateName {
  name: string
  language: string
}

/**
 * The URL contains the WhatsApp account and the open template, so that both can be linked:
 * `?account=wa_…&name=order_shipped&language=en`.
 */
export function useTemplateLinks() {
  const [search, setSearch] = useSearchParams()
  const whatsAppAccountId = search.get('account') ?? undefined
  const name = search.get('name')
  const ofList = new URLSearchParams(whatsAppAccountId === undefined ? {} : { account: whatsAppAccountId })
  return {
    whatsAppAccountId,
    opened: name === null ? undefined : { name, language: search.get('language') ?? '' },
    linkTo: ({ name, language }: TemplateName) =>
      `?${new URLSearchParams([...ofList, ['name', name], ['language', language]])}`,
    // Without an entry in the history, so that the back button does not reopen the template.
    close: () => setSearch(ofList, { replace: true, preventScrollReset: true }),
    chooseAccount: (id: string) => setSearch({ account: id }),
  }
}
