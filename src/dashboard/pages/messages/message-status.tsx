import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { VisuallyHidden } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { translate } from '../../language/i18n.ts'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import type { FailureStage } from '../../../../contracts/dashboard/message.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import type { Tone } from '../../ui/tone.ts'
import { say } from '../../language/facts.ts'
import { useUser } from '../../session/session.ts'

export const statusNames = {
  pending: msg`Pending`,
  sent: msg`Sent`,
  delivered: msg`Delivered`,
  read: msg`Read`,
  failed: msg`Failed`,
} satisfies Record<MessageStatus, MessageDescriptor>

export const failureNames = {
  rejected: msg`Failed: rejected`,
  undelivered: msg`Failed: undelivered`,
} satisfies Record<FailureStage, MessageDescriptor>

const tones = {
  pending: 'warning',
  sent: 'neutral',
  delivered: 'good',
  read: 'active',
  failed: 'bad',
} satisfies Record<MessageStatus, Tone>

export function MessageStatusBadge({ status }: { status: MessageStatus }) {
  return <StatusBadge tone={tones[status]}>{translate(statusNames[status])}</StatusBadge>
}

export const outcomeUnknownName = msg`Pending: outcome unknown`

/** The name of a status filter. */
export function nameStatus({
  status,
  failure,
  outcome,
}: {
  status: MessageStatus
  failure: FailureStage | ''
  outcome: 'unknown' | ''
}): MessageDescriptor {
  if (outcome !== '') return outcomeUnknownName
  return failure === '' ? statusNames[status] : failureNames[failure]
}

/** What the sandbox simulates for a special recipient; undefined for all other numbers, and outside the sandbox. */
export function useSimulatedOutcome(to: string): string | undefined {
  const recipient = useUser().sandbox?.recipients.find((one) => one.to === to)
  return recipient && say(recipient, 'does')
}

/** Marks a message whose outcome was chosen by its recipient, so that its failure is not taken for a real one. */
export function SimulatedBadge({ to }: { to: string }) {
  const outcome = useSimulatedOutcome(to)
  if (outcome === undefined) return null
  return (
    <span title={outcome}>
      <IconFlask size={16} color="var(--mantine-color-dimmed)" style={{ verticalAlign: 'text-bottom' }} aria-hidden />
      <VisuallyHidden>{t`Simulated outcome`}</VisuallyHidden>
    </span>
  )
}
