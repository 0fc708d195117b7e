import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import {
  AppShell,
  Avatar,
  Burger,
  Button,
  Group,
  Kbd,
  type MantineColorScheme,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import {
  IconCheck,
  IconDeviceDesktop,
  IconFlask,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSelector,
  IconServer2,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import { Link, useLocation, useNavigate } from 'react-router'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Suspense } from 'react'
import { Trans } from '@lingui/react/macro'
import { LanguageItems } from '../language/language-choice.tsx'
import { translate } from '../language/i18n.ts'
import { useSignOut, useUser } from '../session/session.ts'
import { Logo } from './logo.tsx'
import { helpPages } from './pages.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import styles from './command-palette.module.css'

interface HeaderProps {
  accountId: string | undefined
  /** The navigation menu on a phone. */
  menu: { opened: boolean; toggle: () => void }
}

export const headerHeight = 52

export function Header({ accountId, menu }: HeaderProps) {
  const { sandbox, accounts } = useUser()
  // The account that the navigation links to.
  const current = accounts.find((account) => account.accountId === accountId) ?? accounts[0]
  return (
    <AppShell.Header>
      {sandbox && <SandboxRibbon />}
      <Group h={headerHeight} px="md" justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <Burger
            hiddenFrom="sm"
            size="sm"
            opened={menu.opened}
            onClick={menu.toggle}
            aria-label={menu.opened ? t`Close navigation` : t`Open navigation`}
            aria-expanded={menu.opened}
          />
          <Logo compact={accounts.length > 1} />
          {current && <AccountSwitcher current={current} />}
        </Group>
        <Group gap="sm" wrap="nowrap">
          {current && <OpenButton accountId={current.accountId} />}
          <UserMenu />
        </Group>
      </Group>
    </AppShell.Header>
  )
}

/** The account name, as a menu if there are several accounts. */
function AccountSwitcher({ current }: { current: { accountId: string; name: string } }) {
  const { accounts } = useUser()
  const navigate = useNavigate()
  const section = useLocation().pathname.split('/')[2] ?? ''
  if (accounts.length === 1)
    return (
      <Text c="dimmed" size="sm" truncate pl="xs" visibleFrom="xs">
        {current.name}
      </Text>
    )
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          rightSection={<IconSelector size={14} />}
          aria-label={t`Account: ${current.name}. Switch account`}
          styles={{ root: { minWidth: 0 } }}
        >
          <Text span inherit truncate>
            {current.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={400} style={{ overflowY: 'auto' }}>
        {accounts.map(({ accountId, name, role, viewedUntil }) => (
          <Menu.Item
            key={accountId}
            onClick={() => void navigate(`/${accountId}/${section}`)}
            rightSection={accountId === current.accountId ? <IconCheck size={14} aria-label={t`Selected`} /> : null}
          >
            <Text size="sm" truncate>
              {name}
            </Text>
            <Text size="xs" c="dimmed">
              {viewedUntil !== undefined ? t`Operator view` : role === 'owner' ? t`Owner` : t`Viewer`}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const schemes = [
  { scheme: 'auto', label: msg`System`, icon: IconDeviceDesktop },
  { scheme: 'light', label: msg`Light`, icon: IconSun },
  { scheme: 'dark', label: msg`Dark`, icon: IconMoon },
] as const satisfies { scheme: MantineColorScheme; label: MessageDescriptor; icon: typeof IconSun }[]

function UserMenu() {
  const { name, email, operator } = useUser()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton px={6} py={4} style={{ borderRadius: 'var(--mantine-radius-md)' }}>
          <Group gap="xs" wrap="nowrap">
            <Avatar color="waybill" radius="xl" size={28} aria-hidden>
              <IconUser size={18} />
            </Avatar>
            <Text size="sm" visibleFrom="sm" maw={160} truncate>
              {name}
            </Text>
            <VisuallyHidden>{t`User menu`}</VisuallyHidden>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {email}
          </Text>
        </Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>{t`Profile`}</Menu.Item>
        {operator !== undefined && (
          <Menu.Item component={Link} to="/console" leftSection={<IconServer2 size={16} />}>{t`Console`}</Menu.Item>
        )}
        {helpPages.map(({ path, label, icon: Icon }) => (
          <Menu.Item key={path} component="a" href={path} target="_blank" leftSection={<Icon size={16} />}>
            {translate(label)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t`Appearance`}</Menu.Label>
        {schemes.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            closeMenuOnClick={false}
            leftSection={<Icon size={16} />}
            rightSection={colorScheme === scheme ? <IconCheck size={14} aria-label={t`Selected`} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {translate(label)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <LanguageItems />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>{t`Sign out`}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Loaded on first use. */
const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette)

/** Opens the command palette, like the shortcuts ⌘K and Ctrl+K. */
function OpenButton({ accountId }: { accountId: string }) {
  const [opened, { open, close, toggle }] = useDisclosure()
  // Includes fields, in which shortcuts are ignored by default.
  useHotkeys([['mod+K', toggle]], [])
  return (
    <>
      <UnstyledButton
        onClick={open}
        className={styles['button']}
        aria-haspopup="dialog"
        aria-keyshortcuts="Meta+K Control+K"
      >
        <Group gap={8} wrap="nowrap">
          <IconSearch size={16} aria-hidden />
          <Text span size="sm" visibleFrom="sm">{t`Search`}</Text>
          <VisuallyHidden hiddenFrom="sm">{t`Search`}</VisuallyHidden>
          <Kbd size="xs" visibleFrom="md" aria-hidden>
            {isApple() ? '⌘K' : 'Ctrl K'}
          </Kbd>
        </Group>
      </UnstyledButton>
      {opened && (
        <Suspense>
          <CommandPalette accountId={accountId} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

export const ribbonHeight = 30

/** Above the header of every page in the sandbox. */
export function SandboxRibbon() {
  return (
    <Group
      role="note"
      aria-label={t`Sandbox`}
      h={ribbonHeight}
      px="md"
      gap={6}
      wrap="nowrap"
      justify="center"
      bg="var(--mantine-color-yellow-light)"
      c="var(--mantine-color-yellow-light-color)"
      style={{ whiteSpace: 'nowrap', overflow: 'hidden' }}
    >
      <IconFlask size={15} aria-hidden />
      <Text span size="xs" fw={700}>{t`Sandbox`}</Text>
      <Text span size="xs" truncate>
        <Trans>
          WhatsApp is simulated
          <Text span inherit visibleFrom="sm">
            : messages reach no phone and cost nothing
          </Text>
        </Trans>
      </Text>
    </Group>
  )
}
