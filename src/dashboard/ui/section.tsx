import { Box, Group, Paper, Text, Title } from '@mantine/core'
import { useId, type ReactNode } from 'react'

interface SectionProps {
  title: string
  description?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}

/** One matter of a page: a card with a heading, and the buttons that belong to it. */
export function Section({ title, description, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Paper component="section" aria-labelledby={id} withBorder p={{ base: 'md', sm: 'lg' }} mb="lg">
      <Group justify="space-between" align="flex-start" gap="md" mb={children === undefined ? 0 : 'md'}>
        <Box flex={1} miw={220}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" mt={2} maw={680}>
              {description}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Paper>
  )
}
