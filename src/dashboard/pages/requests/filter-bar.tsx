import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Autocomplete, Box, Button, Group, NativeSelect, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import { type RequestOutcome, requestOutcomes } from '../../../../contracts/dashboard/request.ts'
import { errors } from '../../../../contracts/errors.ts'
import { translate } from '../../language/i18n.ts'
import { AppliedSearchInput, CollapsibleFilters } from '../../ui/filters.tsx'
import {
  completeCode,
  countFilters,
  isErrorCode,
  isFiltered,
  noFilters,
  type RequestFilters,
  timeRanges,
  toTimeRange,
} from './request-filters.ts'

export const outcomeNames = {
  succeeded: msg`Succeeded`,
  failed: msg({ message: 'Failed', context: 'number of requests' }),
  '4xx': msg`Failed with 4xx`,
  '5xx': msg`Failed with 5xx`,
} satisfies Record<RequestOutcome, MessageDescriptor>

interface FilterBarProps {
  filters: RequestFilters
  /** Error codes of the account's requests. */
  frequentCodes: readonly string[]
  onChange: (changes: Partial<RequestFilters>) => void
}

export function FilterBar({ filters, frequentCodes, onChange }: FilterBarProps) {
  return (
    <Box role="search" aria-label={t`API requests`} mb="md">
      <AppliedSearchInput
        aria-label={t`Search requests`}
        placeholder={t`Request ID, message ID or external ID`}
        value={filters.search}
        onApply={(search) => onChange({ search })}
      />
      <CollapsibleFilters active={countFilters(filters)}>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
          <NativeSelect
            label={t`Outcome`}
            data={[
              { value: '', label: t`Any outcome` },
              ...requestOutcomes.map((outcome) => ({ value: outcome, label: translate(outcomeNames[outcome]) })),
            ]}
            value={filters.outcome}
            onChange={({ currentTarget: { value } }) =>
              onChange({ outcome: requestOutcomes.find((outcome) => outcome === value) ?? '' })
            }
          />
          <NativeSelect
            label={t`Time`}
            data={[
              { value: '', label: t`Any time` },
              ...Object.entries(timeRanges).map(([value, { label }]) => ({ value, label: translate(label) })),
            ]}
            value={filters.range}
            onChange={({ currentTarget: { value } }) => onChange({ range: toTimeRange(value) })}
          />
          <AppliedSearchInput
            label={t`Path`}
            leftSection={undefined}
            placeholder={t`Such as /message/send`}
            value={filters.path}
            onApply={(path) => onChange({ path })}
          />
          <ErrorCodeField
            value={filters.errorCode}
            frequent={frequentCodes}
            onApply={(errorCode) => onChange({ errorCode })}
          />
        </SimpleGrid>
      </CollapsibleFilters>
      {isFiltered(filters) && (
        <Group mt="xs">
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(noFilters)}>{t`Clear filters`}</Button>
        </Group>
      )}
    </Box>
  )
}

interface ErrorCodeFieldProps {
  /** The applied code. */
  value: string
  /** Codes of the account's requests, which are suggested first. */
  frequent: readonly string[]
  onApply: (code: string) => void
}

/** Suggests the API's error codes. Part of a code is enough. */
function ErrorCodeField({ value, frequent, onApply }: ErrorCodeFieldProps) {
  const codes = [...new Set([...frequent, ...Object.keys(errors)])]
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    setText(value)
  }
  const typed = text.trim().toUpperCase()
  const isValid = isErrorCode(typed)
  const apply = (code: string) => {
    setText(code)
    if (code !== value) onApply(code)
  }
  return (
    <Autocomplete
      label={t`Error code`}
      placeholder={t`Such as VALIDATION_ERROR`}
      value={text}
      data={codes}
      limit={20}
      selectFirstOptionOnChange
      error={!isValid && t`Enter a code such as VALIDATION_ERROR.`}
      maxLength={64}
      autoComplete="off"
      spellCheck={false}
      filter={({ options, search }) =>
        options.filter((option) => 'value' in option && (search === value || option.value.includes(typed)))
      }
      onChange={(next) => {
        setText(next)
        if (next === '' || codes.includes(next)) apply(next)
      }}
      onKeyDown={(event) => {
        // Otherwise, Enter selects the first option.
        if (event.key === 'Enter' && isValid && !codes.some((code) => code.includes(typed))) apply(typed)
      }}
      onBlur={() => {
        if (isValid) apply(completeCode(typed, codes))
      }}
    />
  )
}
