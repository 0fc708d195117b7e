import { t } from '@lingui/core/macro'
import { Box, Flex, TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconFilter, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'

interface CollapsibleFiltersProps {
  /** How many filters are active. */
  active: number
  /** Whether they are in a `FilterRow`. */
  isBeside?: boolean
  children: ReactNode
}

/** A search field with few filters: beside each other, as far as they fit. */
export function FilterRow({ children }: { children: ReactNode }) {
  return (
    <Flex wrap="wrap" align="flex-end" gap="sm" mb="md">
      {children}
    </Flex>
  )
}

/** Filters of a list. On a phone, they are collapsed, so that the list is on the first screen. */
export function CollapsibleFilters({ active, isBeside = false, children }: CollapsibleFiltersProps) {
  const [opened, { toggle }] = useDisclosure()
  return (
    <>
      <Button
        hiddenFrom="sm"
        fullWidth
        mt={isBeside ? 0 : 'sm'}
        variant="default"
        icon={IconFilter}
        aria-expanded={opened}
        onClick={toggle}
      >
        {active === 0 ? t`Filters` : t`Filters (${active})`}
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })} mt={isBeside ? 0 : 'sm'} flex={{ base: '1 0 100%', sm: '0 1 auto' }}>
        {children}
      </Box>
    </>
  )
}

interface SearchInputProps extends Omit<TextInputProps, 'onChange'> {
  value: string
  onChange: (text: string) => void
}

export function SearchInput({ onChange, ...field }: SearchInputProps) {
  return (
    <TextInput
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      maxLength={255}
      autoComplete="off"
      spellCheck={false}
      {...field}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

interface AppliedSearchInputProps extends Omit<SearchInputProps, 'onChange'> {
  onApply: (text: string) => void
}

/** Its text is applied when the user stops typing or presses Enter. */
export function AppliedSearchInput({ value, onApply, ...field }: AppliedSearchInputProps) {
  const { text, change, apply } = useAppliedText(value, onApply)
  return (
    <SearchInput
      {...field}
      value={text}
      onChange={change}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply()
      }}
    />
  )
}

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
