import { t } from '@lingui/core/macro'
import { Radio, Stack } from '@mantine/core'
import { describeStillSent, nameCategories } from './categories.ts'
import { useStoppedCategories } from './use-suppressions.ts'

interface ScopeChoiceProps {
  /** True to stop all messages, false to stop only the categories that the account stops, undefined until chosen. */
  allMessages: boolean | undefined
  disabled?: boolean
  onChange: (allMessages: boolean) => void
}

/** The choice of messages that a recipient no longer receives. */
export function ScopeChoice({ allMessages, disabled = false, onChange }: ScopeChoiceProps) {
  const categories = useStoppedCategories().data?.categories ?? ['MARKETING']
  return (
    <Radio.Group
      label={t`Messages to stop`}
      value={allMessages === undefined ? '' : allMessages ? 'all' : 'categories'}
      onChange={(value) => onChange(value === 'all')}
    >
      <Stack gap="xs" mt="xs">
        <Radio
          value="categories"
          disabled={disabled}
          label={t`Only ${nameCategories(categories).toLocaleLowerCase()}`}
          description={describeStillSent(categories)}
        />
        <Radio
          value="all"
          disabled={disabled}
          label={t`All messages`}
          description={t`Also order notices and one-time codes.`}
        />
      </Stack>
    </Radio.Group>
  )
}
