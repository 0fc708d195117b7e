import { t } from '@lingui/core/macro'
import { Autocomplete } from '@mantine/core'
import { useState } from 'react'
import { errors } from '../../../../contracts/errors.ts'
import { completeCode, isErrorCode } from './request-filters.ts'

interface ErrorCodeFieldProps {
  /** The applied code. */
  value: string
  /** Codes of the account's requests, which are suggested first. */
  frequent: readonly string[]
  onApply: (code: string) => void
}

/** Suggests the API's error codes. Part of a code is enough. */
export function ErrorCodeField({ value, frequent, onApply }: ErrorCodeFieldProps) {
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
      placeholder="VALIDATION_ERROR"
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
