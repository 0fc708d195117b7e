import { msg } from '@lingui/core/macro'
import { useLocalStorage } from '@mantine/hooks'
import { type RefObject, useEffect, useEffectEvent } from 'react'

interface LogKeys {
  /** Focuses the search. */
  onSearch: () => void
  /** Moves to the next (1) or the previous (-1) message. */
  onMove: (step: 1 | -1) => void
  onClose: () => void
  onHelp: () => void
}

/** The shortcuts and their descriptions. */
export const shortcuts = [
  { keys: ['/'], does: msg`Search messages` },
  { keys: ['j', '↓'], does: msg`Next message` },
  { keys: ['k', '↑'], does: msg`Previous message` },
  { keys: ['Enter'], does: msg`Open the message` },
  { keys: ['Esc'], does: msg`Close the message` },
  { keys: ['?'], does: msg`Show keyboard shortcuts` },
]

/** It must be possible to turn off single-character shortcuts (WCAG 2.2, 2.1.4). */
export function useShortcutsSetting() {
  const [setting, set] = useLocalStorage<'on' | 'off'>({
    key: 'waybill-shortcuts',
    defaultValue: 'on',
    getInitialValueInEffect: false,
  })
  return { isOn: setting === 'on', set: (isOn: boolean) => set(isOn ? 'on' : 'off') }
}

/** Arrow keys work only within the list, because elsewhere they scroll the page. */
export function useLogKeys(list: RefObject<HTMLElement | null>, isOn: boolean, keys: LogKeys): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const act = findAction(event, { isOn, isInList: isWithin(list.current, event.target), keys })
    if (!act) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

interface Circumstances {
  isOn: boolean
  isInList: boolean
  keys: LogKeys
}

function findAction(event: KeyboardEvent, { isOn, isInList, keys }: Circumstances): (() => void) | undefined {
  const { key, ctrlKey, metaKey, altKey, isComposing, defaultPrevented, target } = event
  if (ctrlKey || metaKey || altKey || isComposing || defaultPrevented || isForWidget(target)) return undefined
  switch (key) {
    case 'Escape':
      return keys.onClose
    case 'ArrowDown':
      return isInList ? () => keys.onMove(1) : undefined
    case 'ArrowUp':
      return isInList ? () => keys.onMove(-1) : undefined
  }
  if (!isOn) return undefined
  switch (key) {
    case '/':
      return keys.onSearch
    case 'j':
      return () => keys.onMove(1)
    case 'k':
      return () => keys.onMove(-1)
    case '?':
      return keys.onHelp
  }
  return undefined
}

const widgets = 'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"]'

/** Whether the target is a field, menu or dialog, which handle keys themselves. */
function isForWidget(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"]') !== null) return true
  return target instanceof Element && target.closest(widgets) !== null
}

function isWithin(element: HTMLElement | null, target: EventTarget | null): boolean {
  return element !== null && target instanceof Node && element.contains(target)
}
