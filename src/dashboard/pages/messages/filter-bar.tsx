import { Box, Button, CloseButton, Group, NativeSelect, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import { useState } from 'react'
import { messageStatuses } from '../../../../contracts/api/message.ts'
import { PhoneNumber } from '../../../../contracts/fields.ts'
import { fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { isFiltered, type MessageFilters, noFilters, type Range, ranges } from './message-filters.ts'
import { statusNames } from './message-status.tsx'

interface FilterBarProps {
  filters: MessageFilters
  onChange: (filters: MessageFilters) => void
}

const statusOptions = [
  { value: '', label: 'Any status' },
  ...messageStatuses.map((status) => ({ value: status, label: statusNames[status] })),
]
const rangeOptions = [
  { value: 'any', label: 'Any time' },
  ...Object.entries(ranges).map(([value, { label }]) => ({ value, label })),
  { value: 'custom', label: 'Custom range' },
] satisfies { value: string; label: string }[]

/** On a phone, the fields are behind a button. */
export function FilterBar({ filters, onChange }: FilterBarProps) {
  const [opened, { toggle }] = useDisclosure()
  const narrowed = isFiltered(filters)
  const change = (changes: Partial<MessageFilters>) => onChange({ ...filters, ...changes })
  return (
    <Box role="search" aria-label="Messages" mb="md">
      <Button
        hiddenFrom="sm"
        fullWidth
        variant="default"
        leftSection={<IconFilter size={16} />}
        aria-expanded={opened}
        onClick={toggle}
      >
        {narrowed ? 'Filters (active)' : 'Filters'}
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })} mt={{ base: 'sm', sm: 0 }}>
        <SimpleGrid cols={{ base: 1, xs: 2, sm: 3, lg: 5 }} spacing="sm">
          <NativeSelect
            label="Status"
            data={statusOptions}
            value={filters.status}
            onChange={({ currentTarget: { value } }) =>
              change({ status: messageStatuses.find((status) => status === value) ?? '' })
            }
          />
          <NativeSelect
            label="Time"
            data={rangeOptions}
            value={filters.range}
            // All options are ranges.
            onChange={({ currentTarget: { value } }) => change({ range: value as Range })}
          />
          <FilterField
            label="Recipient"
            placeholder="34600111222"
            inputMode="tel"
            value={filters.to}
            onApply={(to) => change({ to })}
            clean={(text) => text.replaceAll(/\D/g, '')}
            problemOf={(to) =>
              PhoneNumber.safeParse(to).success ? undefined : 'Enter the full number with its country code.'
            }
          />
          <FilterField
            label="Template"
            placeholder="order_shipped"
            value={filters.template}
            onApply={(template) => change({ template })}
          />
          <FilterField
            label="External ID"
            placeholder="order-1042"
            value={filters.externalId}
            onApply={(externalId) => change({ externalId })}
          />
        </SimpleGrid>
        {filters.range === 'custom' && <CustomRange filters={filters} onChange={change} />}
        <Group justify="space-between" mt="xs" mih={30} gap="sm">
          <Text size="xs" c="dimmed">
            Recipient, template and external ID must match exactly.
          </Text>
          {narrowed && (
            <Button size="compact-sm" variant="subtle" onClick={() => onChange(noFilters)}>
              Clear filters
            </Button>
          )}
        </Group>
      </Box>
    </Box>
  )
}

function CustomRange({
  filters,
  onChange,
}: {
  filters: MessageFilters
  onChange: (change: Partial<MessageFilters>) => void
}) {
  const isBackwards = filters.from !== '' && filters.until !== '' && filters.from >= filters.until
  return (
    // Wide enough for date, time and the calendar button.
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" mt="sm">
      <TextInput
        type="datetime-local"
        label="From"
        value={toLocalInput(filters.from)}
        onChange={({ currentTarget: { value } }) => onChange({ from: fromLocalInput(value) ?? '' })}
      />
      <TextInput
        type="datetime-local"
        label="Until"
        value={toLocalInput(filters.until)}
        error={isBackwards && 'Must be after the start time.'}
        onChange={({ currentTarget: { value } }) => onChange({ until: fromLocalInput(value) ?? '' })}
      />
    </SimpleGrid>
  )
}

interface FilterFieldProps {
  label: string
  placeholder: string
  /** The applied filter. */
  value: string
  onApply: (value: string) => void
  /** Normalises the input, for example by removing spaces from a phone number. */
  clean?: (text: string) => string
  /** Why a value cannot be applied yet. */
  problemOf?: (value: string) => string | undefined
  inputMode?: 'text' | 'tel'
}

const waitMilliseconds = 400

/** A text filter that is applied when the user pauses. */
function FilterField({
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
  // `value` follows what was applied with a delay. Only a different value replaces the input.
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
