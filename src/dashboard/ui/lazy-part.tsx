import { t } from '@lingui/core/macro'
import { type ComponentType, lazy, useEffect } from 'react'
import { notifyFailureMessage } from '../api/use-change.ts'

/**
 * A part of a page that is loaded when it is shown. If that fails, for example because a server update removed its old
 * file, a notification says so, and the page stays with what was typed.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props & PartProps>>) {
  return lazy(async (): Promise<{ default: ComponentType<Props & PartProps> }> => {
    try {
      return { default: await load() }
    } catch {
      return { default: LoadFailure }
    }
  })
}

interface PartProps {
  onClose?: () => void
}

function LoadFailure({ onClose }: PartProps) {
  useEffect(() => {
    notifyLoadFailure()
    onClose?.()
  }, [onClose])
  return null
}

export function notifyLoadFailure(): void {
  notifyFailureMessage(t`The server may have been updated, or your connection was interrupted. Reload the page.`)
}
