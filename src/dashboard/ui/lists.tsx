import { Box, Group, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import styles from './lists.module.css'

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

interface Detail {
  /** Needed if two items have the same name. */
  id?: string
  name: string
  value: ReactNode
}

/** A list of names and values, without those that are false. The names are as wide as the longest one, up to three tenths of the list. */
export function DescriptionList({ items }: { items: (Detail | false)[] }) {
  return (
    <Box component="dl" m={0} className={styles['details']}>
      {items
        .filter((item) => item !== false)
        .map(({ name, value, id = name }) => (
          <Fragment key={id}>
            <Text component="dt" size="sm" c="dimmed">
              {name}
            </Text>
            <Box component="dd" m={0} fz="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Box>
          </Fragment>
        ))}
    </Box>
  )
}
