import { type MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../../language/i18n.ts'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import type { FailureStage } from '../../../../contracts/dashboard/message.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import type { Tone } from '../../ui/tone.ts'

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
