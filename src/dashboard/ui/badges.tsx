import { Badge, type MantineColor, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** The meaning of a status. Colour only supports the label. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral' | 'active'

const colours = {
  good: 'waybill',
  warning: 'yellow',
  bad: 'red',
  neutral: 'gray',
  active: 'blue',
} satisfies Record<Tone, MantineColor>

export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge variant="light" color={colours[tone]} tt="none" fw={600} radius="sm">
      {children}
    </Badge>
  )
}

/** WhatsApp's quality rating of a phone number or template. */
const qualities: Partial<Record<string, { tone: Tone; label: string }>> = {
  GREEN: { tone: 'good', label: 'High (green)' },
  YELLOW: { tone: 'warning', label: 'Medium (yellow)' },
  RED: { tone: 'bad', label: 'Low (red)' },
  UNKNOWN: { tone: 'neutral', label: 'Not rated' },
}

/** Values that WhatsApp adds later are shown unchanged. */
export function QualityBadge({ quality }: { quality: string | undefined }) {
  if (quality === undefined)
    return (
      <Text component="span" size="sm" c="dimmed">
        Not reported yet
      </Text>
    )
  const { tone, label } = qualities[quality] ?? { tone: 'neutral', label: quality }
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}
