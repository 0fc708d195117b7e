import { useDisclosure } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { useLogKeys, useShortcutsSetting } from './log-keys.ts'
import type { LogAddress } from './use-log-address.ts'

/** Walks through the log by keyboard. The focus is the selection, so that screen readers follow it. */
export function useLogNavigation({ openedId, open, close }: Pick<LogAddress, 'openedId' | 'open' | 'close'>) {
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

  // The panel takes its focus with it.
  const lastOpened = useRef(openedId)
  useEffect(() => {
    if (openedId === undefined && document.activeElement === document.body) findLink(lastOpened.current)?.focus()
    lastOpened.current = openedId
  })
  return { list, search, help: { opened: helpOpened, onOpen: help.open, onClose: help.close } }
}

/** The links of the table or of the list, whichever the screen shows. */
function listLinks(list: HTMLElement | null): HTMLAnchorElement[] {
  const links = list?.querySelectorAll<HTMLAnchorElement>('a[data-message]') ?? []
  return [...links].filter((link) => link.offsetParent !== null)
}
