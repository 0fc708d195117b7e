import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

/**
 * The heading of a page takes the focus when a link led there. Whoever changes the address by typing into
 * the page stays where they type: call what is returned right before.
 */
export function useKeptFocus(): () => void {
  const { key } = useLocation()
  const focused = useRef<Element>(null)
  useEffect(() => {
    if (focused.current instanceof HTMLElement) focused.current.focus({ preventScroll: true })
    focused.current = null
  }, [key])
  return () => {
    focused.current = document.activeElement
  }
}
