import { t } from '@lingui/core/macro'
import { Autocomplete, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { say } from '../../language/facts.ts'
import { FailureCode } from '../../../../contracts/fields.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

interface ErrorCodeFieldProps {
  /** The applied code. */
  value: string
  onApply: (code: string) => void
}

const reasonDays = 90

/** Suggests the account's most frequent error codes. Any other code can be typed. */
export function ErrorCodeField({ value, onApply }: ErrorCodeFieldProps) {
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
