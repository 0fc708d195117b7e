import { useEffect, useState } from 'react'
import { notifyFailureMessage } from '../api/notify.ts'
import { copyText } from './copy-text.ts'

const shownMilliseconds = 2000

/** Copies, and knows for a moment that it did. */
export function useCopy(text: string): { copied: boolean; copy: () => Promise<void> } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    if (await copyText(text)) setCopied(true)
    else notifyFailureMessage('Your browser did not allow copying. Select the text and copy it by hand.')
  }
  return { copied, copy }
}
