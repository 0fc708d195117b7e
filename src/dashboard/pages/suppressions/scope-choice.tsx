import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Radio, Stack } from '@mantine/core'
import { suppressedCategories, type SuppressedCategory } from '../../../../contracts/dashboard/suppression.ts'
import { formatList } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { useStoppedCategories } from './use-suppressions.ts'

interface ScopeChoiceProps {
  /** True to stop all messages, false to stop only the categories that the account stops, undefined until chosen. */
  allMessages: boolean | undefined
  onChange: (allMessages: boolean) => void
}

/** The choice of messages that a recipient no longer receives. */
export function ScopeChoice({ allMessages, onChange }: ScopeChoiceProps) {
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
          label={t`Only ${nameCategories(categories).toLocaleLowerCase()}`}
          description={describeStillSent(categories)}
        />
        <Radio value="all" label={t`All messages`} description={t`Also order notices and one-time codes.`} />
      </Stack>
    </Radio.Group>
  )
}

/** WhatsApp's template categories, and what they contain in the words of recipients. */
export const categories = {
  MARKETING: { label: msg`Marketing`, contents: msg`offers and other advertising` },
  UTILITY: { label: msg`Utility`, contents: msg`order notices` },
  AUTHENTICATION: { label: msg`Authentication`, contents: msg`one-time codes` },
} satisfies Record<SuppressedCategory, { label: MessageDescriptor; contents: MessageDescriptor }>

/** `Marketing and utility` */
export function nameCategories(named: readonly SuppressedCategory[]): string {
  return formatList(named.map((category) => translate(categories[category].label)))
}

/** What suppressed recipients still receive, such as `Still sent: order notices, and one-time codes.` */
function describeStillSent(stopped: readonly SuppressedCategory[]): string {
  const sent = suppressedCategories.filter((category) => !stopped.includes(category))
  if (sent.length === 0) return t`Nothing else is sent either, because the account stops all categories.`
  const contents = formatList(sent.map((category) => translate(categories[category].contents)))
  return t`Still sent: ${contents}.`
}
