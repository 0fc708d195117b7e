import { Box, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Item {
  /** Needed if two items have the same name. */
  id?: string
  name: string
  value: ReactNode
}

/** A list of names and values. */
export function DescriptionList({ items }: { items: Item[] }) {
  return (
    <Stack component="dl" gap="xs" m={0}>
      {items.map(({ name, value, id = name }) => (
        <Group key={id} gap="md" wrap="nowrap" align="baseline">
          <Text component="dt" size="sm" c="dimmed" w={96} style={{ flexShrink: 0 }}>
            {name}
          </Text>
          <Box component="dd" m={0} fz="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Box>
        </Group>
      ))}
    </Stack>
  )
}
