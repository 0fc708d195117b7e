import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

const waitMilliseconds = 400

/** The text of a field, which is applied when the user stops typing. */
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
  const apply = useDebouncedCallback((typed: string) => {
    const next = typed.trim()
    if (next === applied) return
    setApplied(next)
    onApply(next)
  }, waitMilliseconds)
  const change = (typed: string) => {
    setText(typed)
    apply(typed)
  }
  return { text, change, flush: apply.flush }
}
