import { Badge, type MantineColor } from '@mantine/core'
import type { ReactNode } from 'react'

/** What a status means to its reader: the words say it, the colour only helps. */
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
