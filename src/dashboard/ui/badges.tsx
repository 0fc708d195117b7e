import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Badge, type MantineColor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { translate } from '../language/i18n.ts'
import styles from './badges.module.css'
import type { Tone } from './tone.ts'

const colours = {
  good: 'waybill',
  warning: 'yellow',
  bad: 'red',
  neutral: 'gray',
  active: 'blue',
} satisfies Record<Tone, MantineColor>

export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge variant="light" color={colours[tone]} className={styles['badge'] ?? ''}>
      {children}
    </Badge>
  )
}

/** A badge for a fact that is not a status, such as a role: grey and without a dot. */
export function LabelBadge({ children }: { children: ReactNode }) {
  return (
    <Badge variant="light" color="gray" className={styles['badge'] ?? ''} data-plain>
      {children}
    </Badge>
  )
}

/** WhatsApp's quality rating of a phone number or template. */
const qualities: Partial<Record<string, { tone: Tone; label: MessageDescriptor }>> = {
  GREEN: { tone: 'good', label: msg`High (green)` },
  YELLOW: { tone: 'warning', label: msg`Medium (yellow)` },
  RED: { tone: 'bad', label: msg`Low (red)` },
  UNKNOWN: { tone: 'neutral', label: msg`Not rated` },
}

/** Values that WhatsApp adds later are shown unchanged. */
export function QualityBadge({ quality }: { quality: string | undefined }) {
  if (quality === undefined) return <Text component="span" size="sm" c="dimmed">{t`Not reported yet`}</Text>
  const known = qualities[quality]
  return <StatusBadge tone={known?.tone ?? 'neutral'}>{known ? translate(known.label) : quality}</StatusBadge>
}
