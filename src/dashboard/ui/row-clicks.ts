import type { MouseEvent } from 'react'
import { type NavigateOptions, type To, useHref, useNavigate } from 'react-router'

/**
 * Makes a click anywhere in a row act like one on its link, including the middle button and Ctrl, which open a tab.
 * Selecting text opens nothing. Keyboards and screen readers use the link itself.
 */
export function useRowClicks({ to, ...options }: NavigateOptions & { to: To }) {
  const href = useHref(to)
  const navigate = useNavigate()
  return {
    onClick: (event: MouseEvent) => {
      if (!isOwnClick(event) || window.getSelection()?.isCollapsed === false) return
      if (event.ctrlKey || event.metaKey) window.open(href, '_blank', 'noopener')
      else void navigate(to, options)
    },
    onAuxClick: (event: MouseEvent) => {
      if (event.button === middleButton && isOwnClick(event)) window.open(href, '_blank', 'noopener')
    },
    onMouseDown: (event: MouseEvent) => {
      // Prevents autoscrolling.
      if (event.button === middleButton && isOwnClick(event)) event.preventDefault()
    },
  }
}

const middleButton = 1

/** The browser handles clicks on the link itself. */
function isOwnClick({ target }: MouseEvent): boolean {
  return !(target instanceof Element && target.closest('a') !== null)
}
