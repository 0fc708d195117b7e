import { useDisclosure } from '@mantine/hooks'
import { useLayoutEffect, useRef } from 'react'
import { useLogKeys, useShortcutsSetting } from './log-keys.ts'
import type { LogAddress } from './use-log-address.ts'

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

  const previous = useRef({ openedId, asList })
  useLayoutEffect(() => {
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
