import { plural, t } from '@lingui/core/macro'
import { Alert, Box, Text } from '@mantine/core'
import { IconCalendarDue } from '@tabler/icons-react'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import type { CategoryCost } from '../../../../contracts/pricing.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { describeAmount } from '../../ui/money.ts'
import { describeTime } from '../../ui/time.ts'
import { inWords } from './template-status.ts'

type Upcoming = NonNullable<OwnTemplate['upcomingCategory']>

/** WhatsApp rejects a template that belongs in this category, instead of changing it. */
const rejectedInstead = 'AUTHENTICATION'

/** The category that WhatsApp has announced for a template; nothing if it keeps its category. */
export function UpcomingCategoryBadge({ template: { upcomingCategory } }: { template: OwnTemplate }) {
  if (!upcomingCategory) return null
  return (
    <Box mt={4}>
      <StatusBadge tone="warning">{describeChange(upcomingCategory)}</StatusBadge>
    </Box>
  )
}

function describeChange({ category, takesEffectAt }: Upcoming): string {
  const name = inWords(category)
  if (takesEffectAt === undefined) return category === rejectedInstead ? t`Will be rejected` : t`Becomes ${name}`
  const time = describeTime(takesEffectAt)
  return category === rejectedInstead ? t`Will be rejected ${time}` : t`Becomes ${name} ${time}`
}

export function UpcomingCategoryAlert({ template: { upcomingCategory } }: { template: OwnTemplate }) {
  if (!upcomingCategory) return null
  const { category, cost } = upcomingCategory
  const isRejected = category === rejectedInstead
  return (
    <Alert color="yellow" icon={<IconCalendarDue />} title={describeChange(upcomingCategory)}>
      <Text size="sm">
        {isRejected
          ? t`WhatsApp says that it belongs in the category ${inWords(category)}. Create it again in that category, and send the new one.`
          : t`WhatsApp announced this change. To keep the category, change the template before that day, or request a review in WhatsApp Manager.`}
      </Text>
      {cost && !isRejected && (
        <Text size="sm" mt="xs">
          {describeCost(cost)}
        </Text>
      )}
    </Alert>
  )
}

function describeCost({ messages, amount, newAmount, currency }: CategoryCost): string {
  const delivered = plural(messages, {
    one: '# message was delivered in the last 30 days.',
    other: '# messages were delivered in the last 30 days.',
  })
  if (amount === undefined || newAmount === undefined || currency === undefined) return delivered
  const [old, next] = [describeAmount(amount, currency), describeAmount(newAmount, currency)]
  return `${delivered} ${t`List price: ${old}; in the new category, it would have been ${next}.`}`
}
