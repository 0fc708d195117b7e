import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

const waitMilliseconds = 400

/** The text of a field, which is applied when the user stops typing, or at once by `apply` and `clear`. */
export function useAppliedText(value: string, onApply: (text: string) => void) {
  const [text, setText] = useState(value)
  // `value` follows the applied text with a delay. Only a different value replaces the input.
  const [applied, setApplied] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    if (value !== applied) {
      setApplied(value)
      setText(value)
    }
  }
  const applyText = (typed: string) => {
    const next = typed.trim()
    if (next === applied) return
    setApplied(next)
    onApply(next)
  }
  const apply = () => applyText(text)
  // Applies what the field shows then, not what was typed: the text may have been replaced or cleared.
  const applyLater = useDebouncedCallback(apply, waitMilliseconds)
  const change = (typed: string) => {
    setText(typed)
    applyLater()
  }
  const clear = () => {
    setText('')
    applyText('')
  }
  return { text, change, apply, clear }
}
