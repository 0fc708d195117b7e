import { t } from '@lingui/core/macro'
import { CloseButton, Kbd, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import type { Ref } from 'react'
import { useAppliedText } from '../../ui/use-applied-text.ts'

interface SearchFieldProps {
  /** The applied search. */
  value: string
  onApply: (value: string) => void
  ref: Ref<HTMLInputElement>
}

const maxLength = 255

/** One field for everything that identifies messages. Applied when the user stops typing. */
export function SearchField({ value, onApply, ref }: SearchFieldProps) {
  const { text, change, apply, clear } = useAppliedText(value, onApply)
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
        if (event.key === 'Enter') apply()
      }}
      rightSection={
        text === '' ? (
          <Kbd size="xs" visibleFrom="sm" aria-hidden>
            /
          </Kbd>
        ) : (
          <CloseButton size="sm" aria-label={t`Clear search`} onClick={clear} />
        )
      }
    />
  )
}
