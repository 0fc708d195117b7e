import { t } from '@lingui/core/macro'
import { Box, NativeSelect, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { Ref } from 'react'
import { translate } from '../../language/i18n.ts'
import { messageStatuses } from '../../../../contracts/api/message.ts'
import { FailureStage } from '../../../../contracts/dashboard/message.ts'
import { CollapsibleFilters } from '../../ui/collapsible-filters.tsx'
import { fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { useTemplates } from '../templates/use-templates.ts'
import { ErrorCodeField } from './error-code-field.tsx'
import { FilterChips } from './filter-chips.tsx'
import { countFilters, type MessageFilters, type Range, ranges } from './message-filters.ts'
import { failureNames, outcomeUnknownName, statusNames } from './message-status.tsx'
import { SearchField } from './search-field.tsx'
import { type SendingNumber, useSendingNumbers } from './use-sending-numbers.ts'

interface FilterBarProps {
  filters: MessageFilters
  onChange: (filters: MessageFilters) => void
  searchRef: Ref<HTMLInputElement>
}

function listStatuses() {
  return [
    { value: '', label: t`Any status` },
    ...messageStatuses.flatMap((status) => [
      { value: status, label: translate(statusNames[status]) },
      ...(status === 'failed' ? listFailures() : []),
      ...(status === 'pending' ? [{ value: 'unknown', label: translate(outcomeUnknownName) }] : []),
    ]),
  ]
}

function listFailures() {
  return FailureStage.options.map((failure) => ({ value: failure, label: translate(failureNames[failure]) }))
}

/** Converts an option to the filters that it sets. */
function readStatusOption(value: string): Pick<MessageFilters, 'status' | 'failure' | 'outcome'> {
  if (value === 'unknown') return { status: 'pending', outcome: 'unknown', failure: '' }
  const failure = FailureStage.options.find((failure) => failure === value)
  if (failure) return { status: 'failed', failure, outcome: '' }
  return { status: messageStatuses.find((status) => status === value) ?? '', failure: '', outcome: '' }
}

function toStatusOption({ status, failure, outcome }: MessageFilters): string {
  if (outcome !== '') return outcome
  return failure === '' ? status : failure
}

function listRanges() {
  return [
    { value: 'any', label: t`Any time` },
    ...Object.entries(ranges).map(([value, { label }]) => ({ value, label: translate(label) })),
    { value: 'custom', label: t`Custom range` },
  ]
}

/** The search, the filters, and a chip for each active filter. */
export function FilterBar({ filters, onChange, searchRef }: FilterBarProps) {
  const change = (changes: Partial<MessageFilters>) => onChange({ ...filters, ...changes })
  const numbers = useSendingNumbers(filters.whatsAppAccountId)
  // With only one number, the filter would be useless.
  const hasNumbers = numbers.length > 1 || filters.whatsAppAccountId !== ''
  return (
    <Box role="search" aria-label={t`Messages`} mb="sm">
      <SearchField ref={searchRef} value={filters.search} onApply={(search) => change({ search, parts: '' })} />
      <CollapsibleFilters active={countFilters(filters)}>
        <SimpleGrid
          type="container"
          cols={{ base: 1, '420px': 2, '720px': hasNumbers ? 3 : 4, '860px': hasNumbers ? 5 : 4 }}
          spacing="sm"
        >
          <NativeSelect
            label={t`Status`}
            data={listStatuses()}
            value={toStatusOption(filters)}
            onChange={({ currentTarget: { value } }) => change(readStatusOption(value))}
          />
          <NativeSelect
            label={t`Time`}
            data={listRanges()}
            value={filters.range}
            // All options are ranges.
            onChange={({ currentTarget: { value } }) => change({ range: value as Range })}
          />
          <TemplatePicker value={filters.template} onChange={(template) => change({ template })} />
          {hasNumbers && (
            <NumberPicker
              numbers={numbers}
              value={filters.whatsAppAccountId}
              onChange={(whatsAppAccountId) => change({ whatsAppAccountId })}
            />
          )}
          <ErrorCodeField value={filters.errorCode} onApply={(errorCode) => change({ errorCode })} />
        </SimpleGrid>
        {filters.range === 'custom' && <CustomRange filters={filters} onChange={change} />}
      </CollapsibleFilters>
      <FilterChips filters={filters} numbers={numbers} onChange={onChange} />
    </Box>
  )
}

/** Templates of the default WhatsApp account. A deleted template in the URL stays selectable. */
function TemplatePicker({ value, onChange }: { value: string; onChange: (template: string) => void }) {
  const templates = useTemplates(undefined)
  const names = templates.data?.items.map(({ name }) => name) ?? []
  return (
    <Select
      label={t`Template`}
      placeholder={t`Any template`}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t`Clear template` }}
      data={[...new Set([...names, ...(value === '' ? [] : [value])])]}
      nothingFoundMessage={t`No such template`}
      value={value === '' ? null : value}
      onChange={(template) => onChange(template ?? '')}
    />
  )
}

interface NumberPickerProps {
  numbers: readonly SendingNumber[]
  value: string
  onChange: (whatsAppAccountId: string) => void
}

function NumberPicker({ numbers, value, onChange }: NumberPickerProps) {
  return (
    <NativeSelect
      label={t`Sent from`}
      data={[
        { value: '', label: t`Any number` },
        ...numbers.map(({ whatsAppAccountId, name }) => ({ value: whatsAppAccountId, label: name })),
      ]}
      value={value}
      onChange={({ currentTarget: { value } }) => onChange(value)}
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
        label={t`From`}
        value={toLocalInput(filters.from)}
        onChange={({ currentTarget: { value } }) => onChange({ from: fromLocalInput(value) ?? '' })}
      />
      <TextInput
        type="datetime-local"
        label={t`Until`}
        value={toLocalInput(filters.until)}
        error={isBackwards && t`Must be after the start time.`}
        onChange={({ currentTarget: { value } }) => onChange({ until: fromLocalInput(value) ?? '' })}
      />
    </SimpleGrid>
  )
}
