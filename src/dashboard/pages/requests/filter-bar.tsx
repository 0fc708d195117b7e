import { Box, Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type RequestOutcome, requestOutcomes } from '../../../../contracts/dashboard/request.ts'
import { isErrorCode, isFiltered, noFilters, type RequestFilters, timeRanges, toTimeRange } from './request-filters.ts'

const outcomeNames = {
  succeeded: 'Succeeded',
  failed: 'Failed',
  '4xx': 'Failed with 4xx',
  '5xx': 'Failed with 5xx',
} satisfies Record<RequestOutcome, string>

interface FilterBarProps {
  filters: RequestFilters
  onChange: (filters: RequestFilters) => void
}

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const change = (changes: Partial<RequestFilters>) => onChange({ ...filters, ...changes })
  return (
    <Box role="search" aria-label="API requests" mb="md">
      <AppliedField
        label="Search requests"
        hideLabel
        placeholder="Request ID, message ID or external ID"
        icon={<IconSearch size={16} aria-hidden />}
        value={filters.search}
        onApply={(search) => change({ search })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" mt="sm">
        <NativeSelect
          label="Outcome"
          data={[
            { value: '', label: 'Any outcome' },
            ...requestOutcomes.map((outcome) => ({ value: outcome, label: outcomeNames[outcome] })),
          ]}
          value={filters.outcome}
          onChange={({ currentTarget: { value } }) =>
            change({ outcome: requestOutcomes.find((outcome) => outcome === value) ?? '' })
          }
        />
        <NativeSelect
          label="Time"
          data={[
            { value: '', label: 'Any time' },
            ...Object.entries(timeRanges).map(([value, { label }]) => ({ value, label })),
          ]}
          value={filters.range}
          onChange={({ currentTarget: { value } }) => change({ range: toTimeRange(value) })}
        />
        <AppliedField
          label="Path"
          placeholder="/message/send"
          value={filters.path}
          onApply={(path) => change({ path })}
        />
        <AppliedField
          label="Error code"
          placeholder="VALIDATION_ERROR"
          value={filters.errorCode}
          problem={(code) => !isErrorCode(code.toUpperCase()) && 'Enter a code such as VALIDATION_ERROR.'}
          onApply={(code) => change({ errorCode: code.toUpperCase() })}
        />
      </SimpleGrid>
      {isFiltered(filters) && (
        <Group mt="xs">
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(noFilters)}>
            Clear filters
          </Button>
        </Group>
      )}
    </Box>
  )
}

interface AppliedFieldProps {
  label: string
  hideLabel?: boolean
  placeholder: string
  icon?: ReactNode
  /** The applied text. */
  value: string
  problem?: (text: string) => string | false
  onApply: (text: string) => void
}

const waitMilliseconds = 400

/** Applied when the user pauses or presses Enter. */
function AppliedField({ label, hideLabel, placeholder, icon, value, problem, onApply }: AppliedFieldProps) {
  const [text, setText] = useState(value)
  // `value` follows what was applied with a delay. Only a different value replaces the input.
  const [applied, setApplied] = useState(value)
  if (value !== applied && value !== text.trim()) {
    setApplied(value)
    setText(value)
  }
  const apply = useDebouncedCallback((typed: string) => {
    const next = typed.trim()
    if (next === applied || (problem && problem(next) !== false)) return
    setApplied(next)
    onApply(next)
  }, waitMilliseconds)
  return (
    <TextInput
      type="search"
      {...(hideLabel ? { 'aria-label': label } : { label })}
      placeholder={placeholder}
      leftSection={icon}
      value={text}
      error={problem?.(text.trim())}
      maxLength={255}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed)
        apply(typed)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply.flush()
      }}
    />
  )
}
