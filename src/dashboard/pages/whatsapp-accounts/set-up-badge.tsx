import { Trans } from '@lingui/react/macro'
import { StatusBadge } from '../../ui/badges.tsx'
import type { SetUpState } from './checklist.ts'

/** The state of a number, as in the list and above the checklist. */
export function SetUpBadge({ state: { kind } }: { state: SetUpState }) {
  switch (kind) {
    case 'ready':
      return (
        <StatusBadge tone="good">
          <Trans>Ready to send</Trans>
        </StatusBadge>
      )
    case 'incomplete':
      return (
        <StatusBadge tone="warning">
          <Trans>Setup incomplete</Trans>
        </StatusBadge>
      )
    case 'blocked':
      return (
        <StatusBadge tone="bad">
          <Trans>Cannot send</Trans>
        </StatusBadge>
      )
  }
}
