import { Box, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './item-list.module.css'

/** A list within a card, such as of people. */
export function ItemList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className={styles['list']}>
      {children}
    </ul>
  )
}

interface ItemProps {
  name: ReactNode
  description: ReactNode
  /** On a phone, below the name. */
  children?: ReactNode
}

export function Item({ name, description, children }: ItemProps) {
  return (
    <li className={styles['item']}>
      <Group justify="space-between" gap="sm">
        <Box flex={1} miw={200}>
          <Text component="div" size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text component="div" size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {description}
          </Text>
        </Box>
        {children !== undefined && <Group gap="sm">{children}</Group>}
      </Group>
    </li>
  )
}
