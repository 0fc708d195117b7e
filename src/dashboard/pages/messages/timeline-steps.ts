import type { Message } from '../../../../contracts/api/message.ts'
import { describeDuration } from '../../ui/describe-duration.ts'

export interface Step {
  name: string
  /** What it means. */
  meaning: string
  kind: 'done' | 'failed' | 'open' | 'untold'
  at?: string
  /** How long after the step before. */
  after?: string
}

/** WhatsApp's own times have no fractions of a second, so a step can seem to come before the one it follows. */
function describeGap(before: string, at: string): string {
  const milliseconds = Date.parse(at) - Date.parse(before)
  return milliseconds <= 0 ? 'within a second' : `${describeDuration(milliseconds)} later`
}

/** What has happened to a message, and what may still. */
export function toSteps(message: Message): Step[] {
  const steps = listSteps(message)
  let before: string | undefined
  return steps.map((step) => {
    const gap = before !== undefined && step.at !== undefined ? describeGap(before, step.at) : undefined
    before = step.at ?? before
    return { ...step, ...(gap !== undefined && { after: gap }) }
  })
}

function listSteps({ status, createdAt, sentAt, deliveredAt, readAt, failedAt }: Message): Step[] {
  const recorded: Step = { name: 'Recorded', meaning: 'Waybill has taken the message.', kind: 'done', at: createdAt }
  const sent = step('Sent', 'WhatsApp accepted it.', sentAt, status !== 'pending')
  if (status === 'failed')
    return [
      recorded,
      ...(sentAt === undefined ? [] : [sent]),
      { name: 'Failed', meaning: 'It did not reach the recipient.', kind: 'failed', ...(failedAt && { at: failedAt }) },
    ]
  const arrived = status === 'delivered' || status === 'read'
  return [
    recorded,
    sent,
    step('Delivered', 'It reached the recipient’s device.', deliveredAt, arrived),
    step('Read', 'The recipient opened it. Some recipients hide this.', readAt, status === 'read'),
  ]
}

/** A step that a later one implies may never be told. */
function step(name: string, meaning: string, at: string | undefined, isPast: boolean): Step {
  if (at !== undefined) return { name, meaning, kind: 'done', at }
  return { name, meaning, kind: isPast ? 'untold' : 'open' }
}
