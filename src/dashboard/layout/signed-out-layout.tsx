import { Center, Container, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Logo } from './logo.tsx'

interface DoorPageProps {
  title: string
  description?: ReactNode | undefined
  children?: ReactNode
}

/** A page for somebody who is not signed in: one card, and nothing around it. */
export function DoorPage({ title, description, children }: DoorPageProps) {
  return (
    <Container component="main" size={440} py={{ base: 32, sm: 96 }}>
      <title>{`${title} · Waybill`}</title>
      <Center mb="lg">
        <Logo />
      </Center>
      <Paper withBorder p={{ base: 'lg', sm: 'xl' }}>
        <Title order={1} fz={20} mb={description === undefined ? 'lg' : 4}>
          {title}
        </Title>
        {description !== undefined && (
          <Text component="div" c="dimmed" size="sm" mb="lg">
            {description}
          </Text>
        )}
        {children}
      </Paper>
    </Container>
  )
}
