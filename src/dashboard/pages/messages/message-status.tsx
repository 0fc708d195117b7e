import type { MessageStatus } from '../../../../contracts/api/message.ts'
import { StatusBadge, type Tone } from '../../ui/badges.tsx'

export const statusNames = {
  pending: 'Pending',
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Read',
  failed: 'Failed',
} satisfies Record<MessageStatus, string>

const tones = {
  pending: 'warning',
  sent: 'neutral',
  delivered: 'good',
  read: 'active',
  failed: 'bad',
} satisfies Record<MessageStatus, Tone>

export function MessageStatusBadge({ status }: { status: MessageStatus }) {
  return <StatusBadge tone={tones[status]}>{statusNames[status]}</StatusBadge>
}
