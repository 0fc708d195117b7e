import { useEffect, useLayoutEffect, useRef } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'

/**
 * Shows a page that is opened from its top, and one that the user goes back to where it was left. The browser would keep
 * the position of the page before. Filters and drawers are in the search of the URL, and leave the position as it is.
 */
export function useScrollPosition(): void {
  const { pathname, key, hash } = useLocation()
  const isReturn = useNavigationType() === NavigationType.Pop
  const positions = useRef(new Map<string, number>())
  const shown = useRef({ pathname, key })

  useLayoutEffect(() => {
    const { pathname: previous } = shown.current
    shown.current = { pathname, key }
    if (previous === pathname) return
    if (isReturn) window.scrollTo(0, positions.current.get(key) ?? 0)
    else if (hash === '') window.scrollTo(0, 0)
  }, [pathname, key, hash, isReturn])

  useEffect(() => {
    const keep = () => positions.current.set(shown.current.key, window.scrollY)
    // The browser restores the position of a reloaded page only.
    const setMode = (mode: ScrollRestoration) => {
      history.scrollRestoration = mode
    }
    const leave = () => setMode('auto')
    setMode('manual')
    window.addEventListener('scroll', keep, { passive: true })
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('scroll', keep)
      window.removeEventListener('pagehide', leave)
      leave()
    }
  }, [])
}
