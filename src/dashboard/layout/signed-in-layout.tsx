import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { AppShell, Badge, Box, NavLink, ScrollArea, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertCircle, IconAlertTriangle, IconExternalLink } from '@tabler/icons-react'
import { type ReactNode, useDeferredValue, useEffect, useLayoutEffect, useRef } from 'react'
import { NavigationType, NavLink as RouterLink, Outlet, useLocation, useNavigationType, useParams } from 'react-router'
import { translate } from '../language/i18n.ts'
import { countOpenAlerts, useAlerts } from '../pages/alerts/use-alerts.ts'
import { useTemplateProblems } from '../pages/templates/use-templates.ts'
import { toSetUpState } from '../pages/whatsapp-accounts/checklist.ts'
import { useHealth } from '../pages/whatsapp-accounts/use-health.ts'
import { SessionContext, useSessionQuery, useUser } from '../session/session.ts'
import { UnavailablePage, WholePageSkeleton } from './fallback-pages.tsx'
import { Header, headerHeight, ribbonHeight } from './header.tsx'
import { helpPages, pageGroups } from './pages.ts'

/** The layout of every page that requires a session. */
export function SignedInLayout() {
  const session = useSessionQuery()
  // The first render is interruptible, so that the browser can paint and handle input in between.
  const user = useDeferredValue(session.data)
  if (user)
    return (
      <SessionContext value={user}>
        <Frame />
      </SessionContext>
    )
  if (session.data || !session.isError) return <WholePageSkeleton />
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
  useScrollPosition()
  return (
    <AppShell
      header={{ height: headerHeight + (sandbox ? ribbonHeight : 0) }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <SkipLink />
      <Header accountId={named ?? last.current} menu={{ opened, toggle }} />
      <Navigation accountId={named ?? last.current} opened={opened} />
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <div className="content">
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  )
}

interface NavigationProps {
  accountId: string | undefined
  /** Whether the navigation is open on a phone, where a button toggles it. */
  opened: boolean
}

function Navigation({ accountId, opened }: NavigationProps) {
  const { accounts } = useUser()
  const section = useLocation().pathname.split('/')[2]
  const account = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  const health = useHealth(account?.accountId)
  const numbers = health.data?.whatsAppAccounts ?? []
  const isUnhealthy = numbers.some(({ healthy }) => !healthy)
  const isIncomplete = numbers.some((number) => number.active && toSetUpState(number).kind === 'incomplete')
  const templateProblems = useTemplateProblems(account?.accountId).data?.total ?? 0
  const openAlerts = countOpenAlerts(useAlerts(account?.accountId).data?.items ?? [])
  const marks: Partial<Record<string, ReactNode>> = {
    ...((isUnhealthy || isIncomplete) && { 'whatsapp-accounts': <ProblemMark isError={isUnhealthy} /> }),
    ...(templateProblems > 0 && { templates: <ProblemMark isError={false} /> }),
    ...(openAlerts > 0 && { alerts: <AlertCount count={openAlerts} /> }),
  }
  return (
    <AppShell.Navbar p="sm" aria-label={t`Pages`} className="navigation" data-opened={opened || undefined}>
      <AppShell.Section grow component={ScrollArea}>
        {account &&
          pageGroups.map(({ label, pages }) => (
            <Box key={pages[0]?.path} role="group" aria-label={translate(label)} mb="xs">
              <Text size="xs" fw={600} c="dimmed" px="sm" py={6} aria-hidden>
                {translate(label)}
              </Text>
              {pages.map(({ path, label: page, icon: Icon }) => (
                <NavLink
                  key={path}
                  component={RouterLink}
                  to={`/${account.accountId}/${path}`}
                  label={translate(page)}
                  active={section === path}
                  leftSection={<Icon size={18} stroke={1.6} />}
                  rightSection={marks[path]}
                  mb={1}
                />
              ))}
            </Box>
          ))}
      </AppShell.Section>
      <AppShell.Section role="group" aria-label={t`Help`} pt="xs">
        {helpPages.slice(0, 1).map(({ path, label, icon: Icon }) => (
          <NavLink
            key={path}
            href={path}
            target="_blank"
            label={translate(label)}
            leftSection={<Icon size={18} stroke={1.6} />}
            rightSection={<IconExternalLink size={14} aria-hidden />}
          />
        ))}
      </AppShell.Section>
    </AppShell.Navbar>
  )
}

function ProblemMark({ isError }: { isError: boolean }) {
  return (
    <>
      {isError ? (
        <IconAlertCircle size={16} color="var(--mantine-color-error)" aria-hidden />
      ) : (
        <IconAlertTriangle size={16} color="var(--mantine-color-yellow-light-color)" aria-hidden />
      )}
      <VisuallyHidden>{t`needs attention`}</VisuallyHidden>
    </>
  )
}

function AlertCount({ count }: { count: number }) {
  return (
    <>
      <Badge size="sm" circle={count < 10} color="red.9" aria-hidden>
        {count}
      </Badge>
      <VisuallyHidden>{plural(count, { one: '# open alert', other: '# open alerts' })}</VisuallyHidden>
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
      <Trans>Skip to content</Trans>
    </a>
  )
}

/**
 * Shows a page that is opened from its top, and one that the user goes back to where it was left. The browser would keep
 * the position of the page before. Filters and drawers are in the search of the URL, and leave the position as it is.
 */
function useScrollPosition(): void {
  const { pathname, key, hash } = useLocation()
  const isReturn = useNavigationType() === NavigationType.Pop
  const positions = useRef(new Map<string, number>())
  const shown = useRef({ pathname, key })

  useLayoutEffect(() => {
    const { pathname: previous } = shown.current
    shown.current = { pathname, key }
    if (previous === pathname) return
    if (isReturn) window.scrollTo(0, positions.current.get(key) ?? 0)
    else if (hash === '') window.scrollTo(0, 0)
  }, [pathname, key, hash, isReturn])

  useEffect(() => {
    const keep = () => positions.current.set(shown.current.key, window.scrollY)
    // The browser restores the position of a reloaded page only.
    const setMode = (mode: ScrollRestoration) => {
      history.scrollRestoration = mode
    }
    const leave = () => setMode('auto')
    setMode('manual')
    window.addEventListener('scroll', keep, { passive: true })
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('scroll', keep)
      window.removeEventListener('pagehide', leave)
      leave()
    }
  }, [])
}
