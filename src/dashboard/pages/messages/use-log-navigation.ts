import { useDisclosure } from '@mantine/hooks'
import { useLayoutEffect, useRef } from 'react'
import { useLogKeys, useShortcutsSetting } from './log-keys.ts'
import type { LogAddress } from './use-log-address.ts'

/** Walks through the log by keyboard. The focus is the selection, so that screen readers follow it. */
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

  const before = useRef({ openedId, asList })
  useLayoutEffect(() => {
    const shown = openedId ?? before.current.openedId
    // Rows of the table and items of the list differ in height, so the message would move away from the pointer.
    if (before.current.asList !== asList) findLink(shown)?.scrollIntoView({ block: 'nearest' })
    // The panel takes its focus with it, and the list hides it when it becomes a table.
    if (openedId === undefined && hasLostFocus()) findLink(shown)?.focus()
    before.current = { openedId, asList }
  })
  return { list, search, help: { opened: helpOpened, onOpen: help.open, onClose: help.close } }
}

/** The browser takes the focus away from a hidden element only with its next frame. */
function hasLostFocus(): boolean {
  const { activeElement, body } = document
  return activeElement === body || (activeElement instanceof HTMLAnchorElement && activeElement.offsetParent === null)
}

/** The links of the table or of the list, whichever the screen shows. */
function listLinks(list: HTMLElement | null): HTMLAnchorElement[] {
  const links = list?.querySelectorAll<HTMLAnchorElement>('a[data-message]') ?? []
  return [...links].filter((link) => link.offsetParent !== null)
}
