import { t } from '@lingui/core/macro'
import { Text, Timeline } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import type { Message } from '../../../../contracts/api/message.ts'
import type { StoredReply } from '../../../../contracts/dashboard/message.ts'
import { useIsOutcomeUnknown } from './message/message-alerts.tsx'
import type { MessageHistory } from './message/use-message.ts'
import { describeDuration, describeExactly } from '../../ui/time.ts'

export function MessageTimeline({ history: { message, replies } }: { history: MessageHistory }) {
  const steps = toSteps(message, replies, useIsOutcomeUnknown(message))
  const active = steps.findLastIndex(({ kind }) => kind !== 'open')
  return (
    <Timeline
      active={active}
      bulletSize={22}
      lineWidth={2}
      role="list"
      aria-label={t`Steps`}
      styles={{ itemTitle: { fontSize: 'var(--mantine-font-size-sm)', fontWeight: 600 } }}
    >
      {steps.map((step, index) => (
        <Timeline.Item
          // A recipient can tap the same button twice.
          key={`${index} ${step.name}`}
          role="listitem"
          title={step.name}
          bullet={<Bullet kind={step.kind} />}
          lineVariant={step.kind === 'open' ? 'dashed' : 'solid'}
          {...(step.kind === 'failed' && { color: 'red' })}
        >
          <StepText step={step} />
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

function Bullet({ kind }: Pick<Step, 'kind'>) {
  switch (kind) {
    case 'done':
    case 'unreported':
      return <IconCheck size={13} aria-hidden />
    case 'failed':
      return <IconX size={13} aria-hidden />
    case 'open':
      return null
  }
}

function StepText({ step: { meaning, kind, at, after } }: { step: Step }) {
  return (
    <>
      {meaning !== undefined && (
        <Text size="sm" c="dimmed">
          {meaning}
        </Text>
      )}
      <Text size="sm">
        {at !== undefined && <time dateTime={at}>{describeExactly(at)}</time>}
        {after !== undefined && ` · ${after}`}
        {kind === 'unreported' && t`Time not reported by WhatsApp`}
      </Text>
    </>
  )
}

interface Step {
  name: string
  meaning?: string
  kind: 'done' | 'failed' | 'open' | 'unreported'
  at?: string
  /** The time since the previous step. */
  after?: string
}

/** WhatsApp reports whole seconds, so a step can appear to be earlier than the previous one. */
function describeGap(before: string, at: string): string {
  const milliseconds = Date.parse(at) - Date.parse(before)
  return milliseconds <= 0 ? t`within a second` : t`${describeDuration(milliseconds)} later`
}

/** Lists the completed and the possible next steps of a message. */
function toSteps(message: Message, replies: StoredReply[], isUnknown: boolean): Step[] {
  const steps = [...listSteps(message, { isUnknown, hasReply: replies.length > 0 }), ...replies.map(toReplyStep)]
  let before: string | undefined
  return steps.map((step) => {
    const gap = before !== undefined && step.at !== undefined ? describeGap(before, step.at) : undefined
    before = step.at ?? before
    return { ...step, ...(gap !== undefined && { after: gap }) }
  })
}

function listSteps(
  { status, createdAt, sentAt, deliveredAt, readAt, failedAt }: Message,
  { isUnknown, hasReply }: { isUnknown: boolean; hasReply: boolean },
): Step[] {
  const recorded: Step = { name: t`Recorded`, kind: 'done', at: createdAt }
  const sent = step({
    name: t`Sent`,
    meaning: t`WhatsApp accepted the message.`,
    open: isUnknown ? t`It is unknown whether WhatsApp accepted the message.` : t`WhatsApp has not responded yet.`,
    at: sentAt,
    isPast: status !== 'pending' || hasReply,
  })
  if (status === 'failed')
    return [
      recorded,
      ...(sentAt === undefined ? [] : [sent]),
      {
        name: t`Failed`,
        meaning: t`The message did not reach the recipient.`,
        kind: 'failed',
        ...(failedAt && { at: failedAt }),
      },
    ]
  const arrived = status === 'delivered' || status === 'read' || hasReply
  return [
    recorded,
    sent,
    step({
      name: t`Delivered`,
      meaning: t`The message reached the recipient’s device.`,
      open: t`The message has not reached the recipient’s device yet.`,
      at: deliveredAt,
      isPast: arrived,
    }),
    step({
      name: t`Read`,
      meaning: t`The recipient read the message.`,
      open: t`The recipient has not read the message yet, or turned off read receipts.`,
      at: readAt,
      isPast: status === 'read' || hasReply,
    }),
  ]
}

function toReplyStep({ at, kind, label }: StoredReply): Step {
  const step = { kind: 'done', at } as const
  switch (kind) {
    case 'button':
      return {
        ...step,
        name: label === undefined ? t`Tapped a button` : t`Tapped “${label}”`,
        meaning: t`The recipient tapped a button of the message.`,
      }
    case 'text':
      return { ...step, name: t`Replied`, meaning: t`The webhook event message.replied has the text.` }
    case 'flow':
      return {
        ...step,
        name: t`Completed the flow`,
        meaning: t`The webhook event message.replied has the recipient’s answers.`,
      }
    case 'contact':
      return {
        ...step,
        name: t`Shared their number`,
        meaning: t`The recipient shared the number that the message asked for.`,
      }
  }
}

interface StepFacts {
  name: string
  meaning: string
  /** Description while the step is not reached. */
  open: string
  at: string | undefined
  isPast: boolean
}

/** A later step implies that this one is done, even if WhatsApp never reported it. */
function step({ name, meaning, open, at, isPast }: StepFacts): Step {
  if (at !== undefined) return { name, meaning, kind: 'done', at }
  return isPast ? { name, meaning, kind: 'unreported' } : { name, meaning: open, kind: 'open' }
}
