import { t } from '@lingui/core/macro'
import { Box, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import type { AttemptSlot } from '../../../../contracts/dashboard/webhook.ts'
import { describeOptionalDuration, describeSlot } from './statistics.ts'
import styles from './webhooks.module.css'

type Shown = 'attempts' | 'time'

interface AttemptBarsProps {
  slots: AttemptSlot[]
  shows: Shown
  height: number
  onHover?: (index: number | undefined) => void
  hovered?: number | undefined
}

/** One bar per slot: succeeded and failed attempts, or the average duration. */
export function AttemptBars({ slots, shows, height, hovered, onHover }: AttemptBarsProps) {
  const highest = Math.max(...slots.map((slot) => valueOf(slot, shows)), 1)
  return (
    <div className={styles['bars']} style={{ height }} aria-hidden onPointerLeave={() => onHover?.(undefined)}>
      {slots.map((slot, index) => (
        <div
          key={slot.startAt}
          className={styles['slot']}
          {...(hovered === index && { 'data-hovered': true })}
          onPointerEnter={() => onHover?.(index)}
        >
          {partsOf(slot, shows).map(
            ({ background, value }) =>
              value > 0 && (
                <div key={background} style={{ background, height: `${(value / highest) * 100}%`, minHeight: 2 }} />
              ),
          )}
        </div>
      ))}
    </div>
  )
}

function valueOf({ attempts, averageMilliseconds = 0 }: AttemptSlot, shows: Shown): number {
  return shows === 'attempts' ? attempts : averageMilliseconds
}

/** The parts of a bar from top to bottom, in the colours of delivered and refused messages on the overview. */
function partsOf(slot: AttemptSlot, shows: Shown): { background: string; value: number }[] {
  const { attempts, succeeded } = slot
  if (shows === 'time') return [{ background: 'var(--waybill-time)', value: valueOf(slot, shows) }]
  return [
    { background: 'var(--waybill-refused)', value: attempts - succeeded },
    { background: 'var(--waybill-delivered)', value: succeeded },
  ]
}

interface AttemptChartProps {
  title: string
  slots: AttemptSlot[]
  slotSeconds: number
  shows: Shown
  /** What the chart shows, in words. */
  description: string
}

/** Bars with a title and the values of the slot under the pointer. */
export function AttemptChart({ title, slots, slotSeconds, shows, description }: AttemptChartProps) {
  const [hovered, setHovered] = useState<number>()
  const slot = hovered === undefined ? undefined : slots[hovered]
  const [first] = slots
  const highest = Math.max(...slots.map((slot) => valueOf(slot, shows)))
  return (
    <Box role="img" aria-label={description} miw={0}>
      <Group justify="space-between" gap="xs" mb={6} mih={20} wrap="nowrap">
        <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
          {title}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {slot ? describeValues(slot, slotSeconds, shows) : t`Highest: ${describeValue(highest, shows)}`}
        </Text>
      </Group>
      <AttemptBars slots={slots} shows={shows} height={96} hovered={hovered} onHover={setHovered} />
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed">
          {first && describeSlot(first, 0)}
        </Text>
        <Text size="xs" c="dimmed">{t`Now`}</Text>
      </Group>
    </Box>
  )
}

function describeValue(value: number, shows: Shown): string {
  return shows === 'attempts' ? formatNumber(value) : describeOptionalDuration(value === 0 ? undefined : value)
}

function describeValues(slot: AttemptSlot, slotSeconds: number, shows: Shown): string {
  const at = describeSlot(slot, slotSeconds)
  const failed = slot.attempts - slot.succeeded
  if (shows === 'time')
    return slot.attempts === 0
      ? t`${at}: no attempts`
      : t`${at}: ${describeOptionalDuration(slot.averageMilliseconds)}, at most ${describeOptionalDuration(slot.slowestMilliseconds)}`
  const attempts = formatNumber(slot.attempts)
  return failed > 0 ? t`${at}: ${attempts}, ${formatNumber(failed)} failed` : `${at}: ${attempts}`
}
