import { t } from '@lingui/core/macro'
import { Autocomplete, Box, CloseButton, Kbd, NativeSelect, Select, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Ref, useState } from 'react'
import { messageStatuses } from '../../../../contracts/api/message.ts'
import { FailureStage } from '../../../../contracts/dashboard/message.ts'
import { FailureCode } from '../../../../contracts/fields.ts'
import { api } from '../../api/client.ts'
import { say } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { CollapsibleFilters, SearchInput, useAppliedText } from '../../ui/filters.tsx'
import { fromLocalInput, toLocalInput } from '../../ui/time.ts'
import { useTemplates } from '../templates/use-templates.ts'
import { FilterChips, useSendingNumbers } from './filter-chips.tsx'
import { countFilters, type MessageFilters, type Range, ranges } from './message-filters.ts'
import { failureNames, outcomeUnknownName, statusNames } from './message-status.tsx'

interface FilterBarProps {
  filters: MessageFilters
  onChange: (changes: Partial<MessageFilters>) => void
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
  const numbers = useSendingNumbers(filters.whatsAppAccountId)
  // With only one number, the filter would be useless.
  const hasNumbers = numbers.length > 1 || filters.whatsAppAccountId !== ''
  return (
    <Box role="search" aria-label={t`Messages`} mb="sm">
      <SearchField ref={searchRef} value={filters.search} onApply={(search) => onChange({ search, parts: '' })} />
      <CollapsibleFilters active={countFilters(filters)}>
        <SimpleGrid
          type="container"
          cols={{
            base: 1,
            '420px': 2,
            '520px': hasNumbers ? 3 : 2,
            '720px': hasNumbers ? 3 : 4,
            '860px': hasNumbers ? 5 : 4,
          }}
          spacing="sm"
        >
          <NativeSelect
            label={t`Status`}
            data={listStatuses()}
            value={toStatusOption(filters)}
            onChange={({ currentTarget: { value } }) => onChange(readStatusOption(value))}
          />
          <NativeSelect
            label={t`Time`}
            data={listRanges()}
            value={filters.range}
            // All options are ranges.
            onChange={({ currentTarget: { value } }) => onChange({ range: value as Range })}
          />
          <TemplatePicker value={filters.template} onChange={(template) => onChange({ template })} />
          {hasNumbers && (
            <NativeSelect
              label={t`Sent from`}
              data={[
                { value: '', label: t`Any number` },
                ...numbers.map(({ whatsAppAccountId, name }) => ({ value: whatsAppAccountId, label: name })),
              ]}
              value={filters.whatsAppAccountId}
              onChange={({ currentTarget: { value } }) => onChange({ whatsAppAccountId: value })}
            />
          )}
          <ErrorCodeField value={filters.errorCode} onApply={(errorCode) => onChange({ errorCode })} />
        </SimpleGrid>
        {filters.range === 'custom' && <CustomRange filters={filters} onChange={onChange} />}
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

function CustomRange({ filters, onChange }: Pick<FilterBarProps, 'filters' | 'onChange'>) {
  const isBackwards = filters.from !== '' && filters.until !== '' && filters.from >= filters.until
  return (
    // Wide enough for date, time and the calendar button.
    <SimpleGrid type="container" cols={{ base: 1, '420px': 2, '720px': 4 }} spacing="sm" mt="sm">
      <TimeField label={t`From`} value={filters.from} onApply={(from) => onChange({ from })} />
      <TimeField
        label={t`Until`}
        value={filters.until}
        error={isBackwards && t`Must be after the start time.`}
        onApply={(until) => onChange({ until })}
      />
    </SimpleGrid>
  )
}

interface TimeFieldProps {
  label: string
  /** The applied time. */
  value: string
  error?: string | false
  onApply: (at: string) => void
}

/** Not applied at each key: a browser forgets the typed part of a number if the page sets the field. */
function TimeField({ label, value, error, onApply }: TimeFieldProps) {
  const { text, change } = useAppliedText(toLocalInput(value), (typed) => onApply(fromLocalInput(typed) ?? ''))
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={text}
      error={error}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}

interface ErrorCodeFieldProps {
  /** The applied code. */
  value: string
  onApply: (code: string) => void
}

const reasonDays = 90

/** Suggests the account's most frequent error codes. Any other code can be typed. */
function ErrorCodeField({ value, onApply }: ErrorCodeFieldProps) {
  const meanings = useReasons()
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    setText(value)
  }
  const code = text.trim().toUpperCase()
  const isValid = code === '' || FailureCode.safeParse(code).success
  const apply = (code: string) => {
    if (code !== value) onApply(code)
  }
  return (
    <Autocomplete
      label={t`Error code`}
      placeholder={t`Such as 131026`}
      value={text}
      data={[...meanings.keys()]}
      error={!isValid && t`Enter a code such as 131026 or WHATSAPP_UNAVAILABLE.`}
      comboboxProps={{ width: 320, position: 'bottom-end' }}
      filter={({ options, search }) =>
        options.filter((option) => 'value' in option && (search === value || option.value.includes(code)))
      }
      renderOption={({ option: { value } }) => (
        <div>
          <Text size="sm" ff="monospace">
            {value}
          </Text>
          <Text size="xs" c="dimmed">
            {meanings.get(value)}
          </Text>
        </div>
      )}
      onChange={(text) => {
        setText(text)
        if (text === '' || meanings.has(text)) apply(text)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && isValid) apply(code)
      }}
      onBlur={() => {
        if (isValid) apply(code)
      }}
    />
  )
}

/** Meanings by code, most frequent first. */
function useReasons(): ReadonlyMap<string, string> {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['overview', accountId, reasonDays],
    queryFn: ({ signal }) => api.overview.get.query({ accountId, days: reasonDays }, { signal }),
    staleTime: 60_000,
  })
  return new Map(data?.failures.map((failure) => [failure.code, say(failure, 'meaning')]))
}

interface SearchFieldProps {
  /** The applied search. */
  value: string
  onApply: (value: string) => void
  ref: Ref<HTMLInputElement>
}

/** One field for everything that identifies messages. Applied when the user stops typing. */
function SearchField({ value, onApply, ref }: SearchFieldProps) {
  const { text, change, apply, clear } = useAppliedText(value, onApply)
  return (
    <SearchInput
      ref={ref}
      aria-keyshortcuts="/"
      aria-label={t`Search messages`}
      placeholder={t`Number, external ID, template, message ID or wamid`}
      value={text}
      // Hides the browser's clear button, because the field has its own.
      styles={{ input: { appearance: 'none' } }}
      onChange={change}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply()
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
