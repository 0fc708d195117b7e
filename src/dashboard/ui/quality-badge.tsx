import { Text } from '@mantine/core'
import { StatusBadge, type Tone } from './status-badge.tsx'

/** What recipients think of a number or a template, in WhatsApp's colours and in words. */
const qualities: Partial<Record<string, { tone: Tone; label: string }>> = {
  GREEN: { tone: 'good', label: 'High (green)' },
  YELLOW: { tone: 'warning', label: 'Medium (yellow)' },
  RED: { tone: 'bad', label: 'Low (red)' },
  UNKNOWN: { tone: 'neutral', label: 'Not rated' },
}

/** WhatsApp may think of another word: then it is shown as it is. */
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
