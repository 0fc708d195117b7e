import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

interface FilterFieldProps {
  label: string
  placeholder: string
  /** What the log is narrowed to now. */
  value: string
  onApply: (value: string) => void
  /** What a pasted value is meant to be, such as a number without its spaces. */
  clean?: (text: string) => string
  /** Why a value cannot be looked for yet. */
  problemOf?: (value: string) => string | undefined
  inputMode?: 'text' | 'tel'
}

const waitMilliseconds = 400

/** A text that the log is narrowed to, once its writer pauses. */
export function FilterField({
  label,
  placeholder,
  value,
  onApply,
  clean = (text) => text.trim(),
  problemOf = () => undefined,
  inputMode = 'text',
}: FilterFieldProps) {
  const [text, setText] = useState(value)
  const [problem, setProblem] = useState<string>()
  // What was applied comes back as `value` a moment later: only another value is news.
  const [applied, setApplied] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    if (value !== applied) {
      setApplied(value)
      setText(value)
      setProblem(undefined)
    }
  }
  const apply = useDebouncedCallback((text: string) => {
    const cleaned = clean(text)
    const found = cleaned === '' ? undefined : problemOf(cleaned)
    setProblem(found)
    if (found !== undefined || cleaned === applied) return
    setApplied(cleaned)
    onApply(cleaned)
  }, waitMilliseconds)
  const change = (text: string) => {
    setText(text)
    apply(text)
  }
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      error={problem}
      inputMode={inputMode}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply.flush()
      }}
      rightSection={
        text !== '' && (
          <CloseButton
            size="sm"
            aria-label={`Clear ${label}`}
            onClick={() => {
              change('')
              apply.flush()
            }}
          />
        )
      }
    />
  )
}
