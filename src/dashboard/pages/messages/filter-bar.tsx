import { Box, Button, NativeSelect, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import type { Ref } from 'react'
import { messageStatuses } from '../../../../contracts/api/message.ts'
import { fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { useTemplates } from '../templates/use-templates.ts'
import { ErrorCodeField } from './error-code-field.tsx'
import { FilterChips } from './filter-chips.tsx'
import { type MessageFilters, type Range, ranges } from './message-filters.ts'
import { statusNames } from './message-status.tsx'
import { SearchField } from './search-field.tsx'

interface FilterBarProps {
  filters: MessageFilters
  onChange: (filters: MessageFilters) => void
  searchRef: Ref<HTMLInputElement>
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

/** The search, the filters and a chip for each active filter. On a phone, the filters are behind a button. */
export function FilterBar({ filters, onChange, searchRef }: FilterBarProps) {
  const [opened, { toggle }] = useDisclosure()
  const change = (changes: Partial<MessageFilters>) => onChange({ ...filters, ...changes })
  return (
    <Box role="search" aria-label="Messages" mb="sm">
      <SearchField ref={searchRef} value={filters.search} onApply={(search) => change({ search, parts: '' })} />
      <Button
        hiddenFrom="sm"
        fullWidth
        mt="sm"
        variant="default"
        leftSection={<IconFilter size={16} />}
        aria-expanded={opened}
        onClick={toggle}
      >
        Filters
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })} mt="sm">
        <SimpleGrid type="container" cols={{ base: 1, '420px': 2, '720px': 4 }} spacing="sm">
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
          <TemplatePicker value={filters.template} onChange={(template) => change({ template })} />
          <ErrorCodeField value={filters.errorCode} onApply={(errorCode) => change({ errorCode })} />
        </SimpleGrid>
        {filters.range === 'custom' && <CustomRange filters={filters} onChange={change} />}
      </Box>
      <FilterChips filters={filters} onChange={onChange} />
    </Box>
  )
}

/** Templates of the default WhatsApp account. A template that was deleted since stays selectable by its link. */
function TemplatePicker({ value, onChange }: { value: string; onChange: (template: string) => void }) {
  const templates = useTemplates(undefined)
  const names = templates.data?.items.map(({ name }) => name) ?? []
  return (
    <Select
      label="Template"
      placeholder="Any template"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear template' }}
      data={[...new Set([...names, ...(value === '' ? [] : [value])])]}
      nothingFoundMessage="No such template"
      value={value === '' ? null : value}
      onChange={(template) => onChange(template ?? '')}
    />
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
    <SimpleGrid type="container" cols={{ base: 1, '420px': 2, '720px': 4 }} spacing="sm" mt="sm">
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
