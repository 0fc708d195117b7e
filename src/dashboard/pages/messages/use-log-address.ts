import { useMemo } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { type MessageFilters, readFilters, writeFilters } from './message-filters.ts'

/** Where the focus goes when a message is shown: to the panel if the user opened it, or it stays in the list. */
type FocusTarget = 'panel' | 'list'

interface PanelState {
  /** Whether this history entry opened the panel; then the previous entry is the log without a panel. */
  opensPanel: boolean
  focus: FocusTarget
}

export function readPanelState(state: unknown): Partial<PanelState> {
  return typeof state === 'object' && state !== null && 'opensPanel' in state ? (state as PanelState) : {}
}

function write(filters: MessageFilters, messageId: string | undefined): URLSearchParams {
  const query = writeFilters(filters)
  if (messageId !== undefined) query.set('message', messageId)
  return query
}

/** The URL contains the filters and the open message, so that both survive reloads and can be shared. */
export function useLogAddress() {
  const [search, setSearch] = useSearchParams()
  const state: unknown = useLocation().state
  const navigate = useNavigate()
  const filters = useMemo(() => readFilters(search), [search])
  const openedId = search.get('message') ?? undefined
  const opensPanel = openedId === undefined || readPanelState(state).opensPanel === true
  /** The first message adds a history entry, so that the back button closes the panel. */
  const linkTo = (messageId: string, focus: FocusTarget = 'panel') => ({
    to: { search: `?${write(filters, messageId)}` },
    replace: openedId !== undefined,
    preventScrollReset: true,
    state: { opensPanel, focus } satisfies PanelState,
  })
  return {
    filters,
    openedId,
    show: (changed: MessageFilters) => setSearch(write(changed, openedId), { replace: true, preventScrollReset: true }),
    linkTo,
    open: (messageId: string, focus?: FocusTarget) => {
      const { to, ...options } = linkTo(messageId, focus)
      void navigate(to, options)
    },
    close: () => {
      if (openedId === undefined) return
      // Go back instead of adding an entry, so that the back button does not reopen the panel.
      if (readPanelState(state).opensPanel === true) void navigate(-1)
      else setSearch(writeFilters(filters), { replace: true, preventScrollReset: true })
    },
  }
}

export type LogAddress = ReturnType<typeof useLogAddress>
