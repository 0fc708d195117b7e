import { Text, Timeline } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import type { Message } from '../../../../contracts/api/message.ts'
import { describeExactly } from '../../ui/describe-time.ts'
import { type Step, toSteps } from './timeline-steps.ts'

/** No answer comes this late: the connection broke, or the process died. */
const unknownAfterMilliseconds = 60_000

export function MessageTimeline({ message }: { message: Message }) {
  const steps = toSteps(message)
  const active = steps.findLastIndex(({ kind }) => kind !== 'open')
  return (
    <>
      <Timeline
        active={active}
        bulletSize={22}
        lineWidth={2}
        role="list"
        aria-label="Steps"
        styles={{ itemTitle: { fontSize: 'var(--mantine-font-size-sm)', fontWeight: 600 } }}
      >
        {steps.map((step) => (
          <Timeline.Item
            key={step.name}
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
      {message.status === 'pending' && <UnknownOutcome since={message.createdAt} />}
    </>
  )
}

function Bullet({ kind }: Pick<Step, 'kind'>) {
  switch (kind) {
    case 'done':
    case 'untold':
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
      <Text size="sm" c="dimmed">
        {meaning}
      </Text>
      <Text size="sm">
        {at !== undefined && <time dateTime={at}>{describeExactly(at)}</time>}
        {after !== undefined && ` · ${after}`}
        {kind === 'open' && 'Not yet'}
        {kind === 'untold' && 'WhatsApp did not say when'}
      </Text>
    </>
  )
}

function UnknownOutcome({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  if (now - Date.parse(since) < unknownAfterMilliseconds) return null
  return (
    <Text size="sm" mt="md">
      No answer of WhatsApp is known, so it may have been sent or not. It stays pending until WhatsApp reports on it. To
      send it again without the risk of two, use the same Idempotency-Key.
    </Text>
  )
}
