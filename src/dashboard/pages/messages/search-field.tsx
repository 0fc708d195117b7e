import { t } from '@lingui/core/macro'
import { CloseButton, Kbd, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type Ref, useState } from 'react'

interface SearchFieldProps {
  /** The applied search. */
  value: string
  onApply: (value: string) => void
  ref: Ref<HTMLInputElement>
}

const waitMilliseconds = 400
const maxLength = 255

/** One field for everything that identifies messages. Applied when the user stops typing. */
export function SearchField({ value, onApply, ref }: SearchFieldProps) {
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
  const apply = useDebouncedCallback((text: string) => {
    const search = text.trim()
    if (search === applied) return
    setApplied(search)
    onApply(search)
  }, waitMilliseconds)
  const change = (text: string) => {
    setText(text)
    apply(text)
  }
  return (
    <TextInput
      ref={ref}
      aria-keyshortcuts="/"
      type="search"
      aria-label={t`Search messages`}
      placeholder={t`Number, external ID, template, message ID or wamid`}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      maxLength={maxLength}
      autoComplete="off"
      spellCheck={false}
      // Hides the browser's clear button, because the field has its own.
      styles={{ input: { appearance: 'none' } }}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply.flush()
      }}
      rightSection={
        text === '' ? (
          <Kbd size="xs" visibleFrom="sm" aria-hidden>
            /
          </Kbd>
        ) : (
          <CloseButton
            size="sm"
            aria-label={t`Clear search`}
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
