import { Box, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Fact {
  /** Where two may have one name. */
  id?: string
  name: string
  value: ReactNode
}

/** Names and values, one pair a line. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <Stack component="dl" gap="xs" m={0}>
      {facts.map(({ name, value, id = name }) => (
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
