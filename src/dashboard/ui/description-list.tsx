import { Box, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import styles from './description-list.module.css'

interface Item {
  /** Needed if two items have the same name. */
  id?: string
  name: string
  value: ReactNode
}

/** A list of names and values, without those that are false. The names are as wide as the longest one, up to three tenths of the list. */
export function DescriptionList({ items }: { items: (Item | false)[] }) {
  return (
    <Box component="dl" m={0} className={styles['list']}>
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
