import { t } from '@lingui/core/macro'
import type { Addressed } from '../../../../contracts/api/account.ts'
import { formatNumber } from '../../language/format.ts'

/** How much of the messaging limit of a business portfolio is used, such as `180 of 250 people in 24 hours`. */
export function describeAddressed({ people, limit, complete }: Addressed): string {
  const [used, all] = [formatNumber(people), formatNumber(limit)]
  return complete ? t`${used} of ${all} people in 24 hours` : t`At least ${used} of ${all} people in 24 hours`
}
