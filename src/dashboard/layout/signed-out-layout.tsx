import { Trans } from '@lingui/react/macro'
import { Center, Container, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { LanguageSelect } from '../language/language-choice.tsx'
import { useSignInOptions } from '../session/sign-in.ts'
import { Logo } from './logo.tsx'
import { SandboxRibbon } from './header.tsx'

interface SignedOutLayoutProps {
  title: string
  description?: ReactNode | undefined
  children?: ReactNode
}

/** The layout of pages without a session: a single card. */
export function SignedOutLayout({ title, description, children }: SignedOutLayoutProps) {
  const { sandbox } = useSignInOptions()
  return (
    <>
      {sandbox && <SandboxRibbon />}
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
        {sandbox && (
          <Text size="sm" c="dimmed" mt="md" ta="center">
            <Trans>
              This is a sandbox. To sign in without a password, start it again: npm start prints a sign-in link.
            </Trans>
          </Text>
        )}
        <LanguageSelect />
      </Container>
    </>
  )
}
