import { t } from '@lingui/core/macro'
import { StatusBadge } from '../../ui/badges.tsx'
import type { SetUpState } from './checklist.ts'

/** The state of a number, as in the list and above the checklist. */
export function SetUpBadge({ state: { kind } }: { state: SetUpState }) {
  switch (kind) {
    case 'ready':
      return <StatusBadge tone="good">{t`Ready to send`}</StatusBadge>
    case 'incomplete':
      return <StatusBadge tone="warning">{t`Setup incomplete`}</StatusBadge>
    case 'blocked':
      return <StatusBadge tone="bad">{t`Cannot send`}</StatusBadge>
  }
}
