import { AppShell, Container, NavLink, ScrollArea, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertCircle } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { NavLink as RouterLink, Outlet, useLocation, useParams } from 'react-router'
import { useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { SessionContext, useUser, useSessionQuery } from '../session/session.ts'
import { UnavailablePage, WholePageSkeleton } from './fallback-pages.tsx'
import { Header, headerHeight } from './header.tsx'
import { accountPages } from './pages.ts'
import { ribbonHeight } from './sandbox-ribbon.tsx'

/** The layout of every page that requires a session. */
export function SignedInLayout() {
  const session = useSessionQuery()
  if (session.data)
    return (
      <SessionContext value={session.data}>
        <Frame />
      </SessionContext>
    )
  if (!session.isError) return <WholePageSkeleton />
  return <UnavailablePage error={session.error} onRetry={() => session.refetch()} />
}

function Frame() {
  const [opened, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  const { sandbox } = useUser()
  const named = useParams()['accountId']
  // Pages without an account, such as the profile, keep the links to the last account.
  const last = useRef(named)
  if (named !== undefined) last.current = named
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: headerHeight + (sandbox ? ribbonHeight : 0) }}
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

interface NavigationProps {
  accountId: string | undefined
  /** On a phone, where the navigation is behind a button. */
  opened: boolean
}

function Navigation({ accountId, opened }: NavigationProps) {
  const { accounts } = useUser()
  const section = useLocation().pathname.split('/')[2]
  const account = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  const health = useHealth(account?.accountId)
  const isUnhealthy = health.data?.whatsAppAccounts.some(({ healthy }) => !healthy) === true
  return (
    <AppShell.Navbar p="sm" aria-label="Settings" className="navigation" data-opened={opened || undefined}>
      <AppShell.Section grow component={ScrollArea}>
        <Text size="xs" fw={600} c="dimmed" px="sm" py="xs">
          Settings
        </Text>
        {account &&
          accountPages.map(({ path, label, icon: Icon }) => (
            <NavLink
              key={path}
              component={RouterLink}
              to={`/${account.accountId}/${path}`}
              label={label}
              active={section === path}
              leftSection={<Icon size={18} stroke={1.6} />}
              rightSection={path === 'whatsapp-accounts' && isUnhealthy ? <ProblemMark /> : undefined}
              mb={2}
              c={section === path ? undefined : 'var(--mantine-color-text)'}
              fw={section === path ? 600 : 400}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          ))}
      </AppShell.Section>
    </AppShell.Navbar>
  )
}

function ProblemMark() {
  return (
    <>
      <IconAlertCircle size={16} color="var(--mantine-color-error)" aria-hidden />
      <VisuallyHidden>needs attention</VisuallyHidden>
    </>
  )
}

/** The first tab stop, which skips the navigation. */
function SkipLink() {
  return (
    <a
      className="skip-link"
      href="#main"
      onClick={(event) => {
        // A fragment in the URL would confuse the router.
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}
    >
      Skip to content
    </a>
  )
}
