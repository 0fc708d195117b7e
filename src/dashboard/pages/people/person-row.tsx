import { Box, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export function PersonList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack component="ul" gap={0} m={0} p={0} aria-label={label} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  )
}

interface PersonRowProps {
  name: ReactNode
  description: ReactNode
  isFirst: boolean
  /** On a phone, below the name. */
  children?: ReactNode
}

export function PersonRow({ name, description, isFirst, children }: PersonRowProps) {
  return (
    <Box component="li" py="sm" style={isFirst ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}>
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
    </Box>
  )
}
