import { AppShell, Container } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { Outlet, useLocation, useParams } from 'react-router'
import { SessionContext, useSessionQuery } from '../session/session.ts'
import { ErrorAlert } from '../ui/error-alert.tsx'
import { Header } from './header.tsx'
import { Navigation } from './navigation.tsx'
import { SkipLink } from './skip-link.tsx'
import { WholePageSkeleton } from './whole-page-skeleton.tsx'

/** The frame of every page that needs a session. */
export function SignedInLayout() {
  const session = useSessionQuery()
  if (session.data)
    return (
      <SessionContext value={session.data}>
        <Frame />
      </SessionContext>
    )
  if (!session.isError) return <WholePageSkeleton />
  return (
    <Container size="sm" py={96}>
      <ErrorAlert error={session.error} onRetry={() => void session.refetch()} />
    </Container>
  )
}

function Frame() {
  const [opened, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  const named = useParams()['accountId']
  // Pages that are about no account, such as the profile, keep the way to the one that was open before.
  const last = useRef(named)
  if (named !== undefined) last.current = named
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 248, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <SkipLink />
      <Header accountId={named ?? last.current} menu={{ opened, toggle }} />
      <Navigation accountId={named ?? last.current} opened={opened} />
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Container size={1080} px={0} mx={0}>
          <Outlet />
        </Container>
      </AppShell.Main>
    </AppShell>
  )
}
