import { useDisclosure } from '@mantine/hooks'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { currentSearch } from '../../api/use-log.ts'
import { useLogKeys, useShortcutsSetting } from './log-keys.ts'
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
    change: (changes: Partial<MessageFilters>) => {
      const current = currentSearch()
      const query = write({ ...readFilters(current), ...changes }, current.get('message') ?? undefined)
      setSearch(query, { replace: true, preventScrollReset: true })
    },
    linkTo,
    open: (messageId: string, focus?: FocusTarget) => {
      const { to, ...options } = linkTo(messageId, focus)
      void navigate(to, options)
    },
    close: () => {
      if (openedId === undefined) return
      // Go back instead of adding an entry, so that the back button does not reopen the panel.
      if (readPanelState(state).opensPanel === true) void navigate(-1)
      else setSearch(writeFilters(readFilters(currentSearch())), { replace: true, preventScrollReset: true })
    },
  }
}

export type LogAddress = ReturnType<typeof useLogAddress>

/** Keyboard navigation of the log. The focused row is the selected one, so that screen readers follow. */
export function useLogNavigation(
  { openedId, open, close }: Pick<LogAddress, 'openedId' | 'open' | 'close'>,
  asList: boolean,
) {
  const list = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const { isOn } = useShortcutsSetting()
  const [helpOpened, help] = useDisclosure()
  const findLink = (messageId: string | undefined) =>
    listLinks(list.current).find(({ dataset }) => dataset['message'] === messageId)

  useLogKeys(list, isOn, {
    onSearch: () => search.current?.select(),
    onMove: (step) => {
      const links = listLinks(list.current)
      const focused = links.findIndex((link) => link === document.activeElement)
      const current = focused === -1 ? links.findIndex(({ dataset }) => dataset['message'] === openedId) : focused
      const next = links[Math.min(Math.max(current + step, 0), links.length - 1)]
      next?.focus()
      const messageId = next?.dataset['message']
      if (openedId !== undefined && messageId !== undefined && messageId !== openedId) open(messageId, 'list')
    },
    onClose: close,
    onHelp: help.open,
  })

  const linkedId = useRef(openedId)
  const previous = useRef({ openedId, asList })
  useLayoutEffect(() => {
    // The page was opened by a link to a message, which can be below the screen.
    if (linkedId.current !== undefined && list.current) {
      findLink(linkedId.current)?.closest('li, tr')?.scrollIntoView({ block: 'nearest' })
      linkedId.current = undefined
    }
    const shown = openedId ?? previous.current.openedId
    // Table rows and list items differ in height, so the message would move away from the pointer.
    if (previous.current.asList !== asList) findLink(shown)?.scrollIntoView({ block: 'nearest' })
    // The focus is lost if the panel that had it closes, or if the list that had it becomes a table.
    if (openedId === undefined && hasLostFocus()) findLink(shown)?.focus()
    previous.current = { openedId, asList }
  })
  return { list, search, help: { opened: helpOpened, onOpen: help.open, onClose: help.close } }
}

/** Includes a focused element that is hidden: browsers only remove its focus in the next frame. */
function hasLostFocus(): boolean {
  const { activeElement, body } = document
  return activeElement === body || (activeElement instanceof HTMLAnchorElement && activeElement.offsetParent === null)
}

/** The visible links, of the table or of the list. */
function listLinks(list: HTMLElement | null): HTMLAnchorElement[] {
  const links = list?.querySelectorAll<HTMLAnchorElement>('a[data-message]') ?? []
  return [...links].filter((link) => link.offsetParent !== null)
}
